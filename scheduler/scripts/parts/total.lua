-- The most requests in flight in the whole fleet (concurrent_requests_total). S:meta "total" is what holds of it, absent for no limit, so
-- that a crawl without one pays for one field of a question that is asked anyway.

-- settle_total works it out anew from what people have set live and what the fleet has agreed on.
local function settle_total()
  local set = redis.call('HMGET', meta, 'kept:concurrent_requests_total', 'set:concurrent_requests_total')
  local most = tonumber(set[1] or set[2] or '') or 0
  if most > 0 then
    redis.call('HSET', meta, 'total', most)
  else
    redis.call('HDEL', meta, 'total')
  end
end
