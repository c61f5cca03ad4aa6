-- extend: heartbeat of leases and of their worker.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  lease ms, worker, heartbeat ms, id...
-- Returns the ids that are no longer leased.
local have = {}
if #ARGV > 3 then have = redis.call('ZMSCORE', leases, unpack(ARGV, 4)) end
local longer, lost = {}, {}
for i = 4, #ARGV do
  if have[i - 3] then
    longer[#longer + 1] = now + tonumber(ARGV[1])
    longer[#longer + 1] = ARGV[i]
  else
    lost[#lost + 1] = ARGV[i]
  end
end
redis.call('ZREM', leases, '')   -- out of memory a first ZADD is refused, a second write is not
if #longer > 0 then redis.call('ZADD', leases, 'XX', 'GT', unpack(longer)) end
redis.pcall('ZADD', workers, now + tonumber(ARGV[3]), ARGV[2])
return lost
