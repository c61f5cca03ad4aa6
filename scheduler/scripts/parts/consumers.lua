-- Who takes items off a list. An item is in the list or in the hands of one consumer, in a list of its own:
--   items:processing:<consumer>   what it has taken and not done
--   items:consumers               consumer -> until when it holds that (ms), without a sign of life
local consumers = items .. ':consumers'

local function held(consumer) return items .. ':processing:' .. consumer end

-- in_hand is how many items they hold.
local function in_hand()
  local n = 0
  for _, consumer in ipairs(redis.call('ZRANGE', consumers, 0, -1)) do n = n + redis.call('LLEN', held(consumer)) end
  return n
end

-- keep lengthens a hold. ZREM comes first, because Redis lets it through when it is out of memory, and then what follows
-- in the script: taking items out is what helps then.
local function keep(consumer, ms)
  redis.call('ZREM', consumers, consumer)
  redis.call('ZADD', consumers, string.format('%.0f', now + ms), consumer)
end
