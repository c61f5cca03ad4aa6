-- pace is the delay of a slot before anything slows it down: its rule's (rules.lua), what people have set live, the fleet's. It returns the
-- rule, too.
local function pace(slot, delay)
  local text = redis.call('HGET', rules, slot) or ''
  local set = redis.call('HMGET', meta, 'kept:download_delay', 'set:download_delay_ms')
  local all = tonumber(set[1] or set[2] or delay) or delay
  local wait = rule(text, all, 1, false)
  return wait, text
end
