-- report: a worker process says what it runs. Reports of those that have been silent for an hour go.
--
-- KEYS  all (parts/keys.lua), then the registry's (parts/registry.lua)
-- ARGV  worker, report as JSON ('' : it leaves), how long it counts as alive (ms)
-- Returns the registry's version.
local gone = redis.call('ZRANGEBYSCORE', members, '-inf', now - 3600000)
redis.call('HLEN', reports)
if ARGV[2] == '' then gone[#gone + 1] = ARGV[1] end
for _, id in ipairs(gone) do
  redis.call('ZREM', members, id)
  redis.call('HDEL', reports, id)
end
if ARGV[2] ~= '' then
  redis.call('ZADD', members, now + tonumber(ARGV[3]), ARGV[1])
  redis.call('HSET', reports, ARGV[1], ARGV[2])
end
return redis.call('GET', version) or '0'
