-- flush: throw away queues, leases, filter and cookies. Seeds and rules stay; items, dead letters and stats unless they are named. The
-- spider's history says so.
--
-- KEYS  all (parts/keys.lua), then the registry's (parts/registry.lua)
-- ARGV  force (1: even while a worker is alive), items, dead, stats (1: delete these too), spider, event as JSON, channel
-- Returns {'OK', the new epoch} or {'ALIVE', worker, ms until it counts as gone}.
if ARGV[1] ~= '1' then
  local alive = redis.call('ZRANGEBYSCORE', workers, '(' .. now, '+inf', 'WITHSCORES')
  if #alive > 0 then return {'ALIVE', alive[#alive - 1], tonumber(alive[#alive]) - now} end
end
redis.call('LLEN', log)
local epoch = flush()
if ARGV[2] == '1' then
  for _, consumer in ipairs(redis.call('ZRANGE', consumers, 0, -1)) do redis.call('UNLINK', held(consumer)) end
  redis.call('UNLINK', items, consumers)
end
if ARGV[3] == '1' then redis.call('UNLINK', dead) end
if ARGV[4] == '1' then
  redis.call('UNLINK', stats)
  baseline(0)
end
changed(ARGV[5], ARGV[6], ARGV[7])
return {'OK', epoch}
