-- status: the state of a crawl in one step.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  none
-- Returns {pending, leases, seeds, delayed, items, dead, seen, slots, {meta field, value ...}, {stats field, value ...}, {worker alive ...}, cookies,
--          items of a list that consumers hold}.
local pending, held, seeds = left()
local length = 'LLEN'
if redis.call('TYPE', items).ok == 'stream' then length = 'XLEN' end
return {pending, held, seeds,
  redis.call('ZCARD', delayed), redis.call(length, items), redis.call('LLEN', dead), redis.call('SCARD', dupefilter), redis.call('ZCARD', slots),
  redis.call('HGETALL', meta), redis.call('HGETALL', stats), redis.call('ZRANGEBYSCORE', workers, '(' .. now, '+inf'), redis.call('HLEN', cookies),
  in_hand()}
