-- left counts what a crawl has left: pending (delayed too), leases, seeds.
local function left()
  local size = {list = 'LLEN', set = 'SCARD', zset = 'ZCARD'}
  local cmd, seeds = size[redis.call('TYPE', start_urls)['ok']], 0
  if cmd then seeds = redis.call(cmd, start_urls) end
  return tonumber(redis.call('HGET', meta, 'pending') or 0), redis.call('ZCARD', leases), seeds
end
