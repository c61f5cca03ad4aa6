-- leave: a worker ends. Without persist the last one throws the queue and the filter away.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  worker, process, persist (1 or 0)
-- Returns 1 if it flushed, else 0.
redis.call('ZREM', workers, ARGV[1])
redis.call('HDEL', commits, ARGV[2])
if ARGV[3] == '1' or redis.call('ZCOUNT', workers, '(' .. now, '+inf') > 0 then return 0 end
flush()
return 1
