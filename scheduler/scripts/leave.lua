-- leave: a worker ends. Without persist the last one throws the queue and the filter away.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  worker, process, persist (1 or 0)
-- Returns how many requests it threw away; -1 when it flushed nothing.
redis.call('ZREM', workers, ARGV[1])
redis.call('HDEL', commits, ARGV[2])
if ARGV[3] == '1' or redis.call('ZCOUNT', workers, '(' .. now, '+inf') > 0 then return -1 end
local _, thrown = flush()
return thrown
