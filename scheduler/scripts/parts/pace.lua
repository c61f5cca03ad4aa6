-- pace is the delay and the concurrency of a slot before anything slows it down: its rule, what people have set live, the fleet's.
local function pace(slot, delay, concurrency)
  local _, _, rd, rc = string.find(redis.call('HGET', rules, slot) or '', '^(%d+) (%d+)$')
  if rd then return tonumber(rd), tonumber(rc) end
  local set = redis.call('HMGET', meta, 'kept:download_delay', 'kept:concurrent_requests_per_domain', 'set:download_delay_ms', 'set:concurrent_requests_per_domain')
  return tonumber(set[1] or set[3] or delay) or delay, tonumber(set[2] or set[4] or concurrency) or concurrency
end
