-- control: change the state of a spider in the whole fleet, or settings of it that hold at once.
--
-- KEYS  all (parts/keys.lua), then the registry's (parts/registry.lua)
-- ARGV  spider, state ('' : as it is), event as JSON, channel, then (field of meta, value; '' takes it out)...
-- Returns the version of the change.
redis.call('HLEN', meta)
redis.call('HLEN', states)
redis.call('LLEN', log)
local known = redis.call('HEXISTS', registry, ARGV[1]) == 1
local v = changed(ARGV[1], ARGV[3], ARGV[4])
if ARGV[2] ~= '' then
  local paused = '0'
  if ARGV[2] == 'paused' then paused = '1' end
  redis.call('HSET', meta, 'state', ARGV[2], 'paused', paused)
  if known then redis.call('HSET', states, ARGV[1], ARGV[2]) end
end
for i = 5, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', meta, ARGV[i])
  else
    redis.call('HSET', meta, ARGV[i], ARGV[i + 1])
  end
end
settle_total()
redis.call('HSET', meta, 'control', v)
return v
