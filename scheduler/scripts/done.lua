-- done: what is left, in one step. Finished is three zeros twice, a second apart, with the same dequeued.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  none
-- Returns {pending, leases, seeds, dequeued, paused}.
local pending, held, seeds = left()
if redis.call('HGET', meta, 'state') == 'draining' then seeds = 0 end  -- a crawl that drains takes none
local state = redis.call('HMGET', meta, 'dequeued', 'paused')
return {pending, held, seeds, tonumber(state[1] or 0), tonumber(state[2] or 0)}
