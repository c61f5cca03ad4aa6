-- status: the state of a crawl in one step.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  none
-- Returns {pending, leases, seeds, delayed, items, dead, seen, slots, {meta field, value ...}, {stats field, value ...}, {worker alive ...}, cookies,
--          items of a list that consumers hold}.
local pending, held, seeds = left()
local kind, stored = redis.call('TYPE', items).ok, 0
if kind == 'stream' then
  stored = redis.call('XLEN', items)
elseif kind == 'list' or redis.call('HGET', meta, 'no_items') ~= '1' then
  stored = redis.call('LLEN', items)                -- of another type it is an error, unless the crawl keeps no items here
end
return {pending, held, seeds,
  redis.call('ZCARD', delayed), stored, redis.call('LLEN', dead), redis.call('SCARD', dupefilter), redis.call('ZCARD', slots),
  redis.call('HGETALL', meta), redis.call('HGETALL', stats), redis.call('ZRANGEBYSCORE', workers, '(' .. now, '+inf'), redis.call('HLEN', cookies),
  in_hand()}
