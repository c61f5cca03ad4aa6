-- robots_keep: store what a host has answered for its robots.txt, and slow its slot down to the crawl-delay.
--
-- KEYS  all (parts/keys.lua), robots (parts/robots.lua)
-- ARGV  field, lease (that claimed), kind (P: a policy, H: a redirect), ms to keep it, redirects, text,
--       slot, crawl-delay ms (0: none), the fleet's delay ms and concurrency,
--       the delay ms of a slot of which nothing is known
-- Returns {stored (0: the claim is no longer the lease's), delay ms of the slot}.
local kind, _, _, holder = robots_record(ARGV[1])
local delay, concurrency = pace(ARGV[7], tonumber(ARGV[9]), tonumber(ARGV[10]))
if kind ~= 'C' or holder ~= ARGV[2] or redis.call('HEXISTS', inflight, ARGV[2]) == 0 then return {0, slowed(ARGV[7], delay, tonumber(ARGV[11]))} end
local crawl_delay = tonumber(ARGV[8])
robots_write(ARGV[1], ARGV[3], now + tonumber(ARGV[4]), ARGV[5], '-', ARGV[6])
if crawl_delay > delay then
  redis.call('HSET', rules, ARGV[7], string.format('%.0f', crawl_delay) .. ' ' .. string.format('%.0f', concurrency))
  delay = crawl_delay
end
return {1, slowed(ARGV[7], delay, tonumber(ARGV[11]))}
