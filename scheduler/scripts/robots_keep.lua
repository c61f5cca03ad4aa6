-- robots_keep: store what a host has answered for its robots.txt, and slow its slot down to the crawl-delay.
--
-- KEYS  all (parts/keys.lua), robots (parts/robots.lua)
-- ARGV  field, lease (that claimed), kind (P: a policy, H: a redirect), ms to keep it, redirects, text,
--       slot, crawl-delay ms (0: none), the fleet's delay ms, the delay ms of a slot of which nothing is known
-- Returns {stored (0: the claim is no longer the lease's), delay ms of the slot}.
local kind, _, _, holder = robots_record(ARGV[1])
local delay, text = pace(ARGV[7], tonumber(ARGV[9]))
delay = slowed(ARGV[7], delay, tonumber(ARGV[10]))
if kind ~= 'C' or holder ~= ARGV[2] or redis.call('HEXISTS', inflight, ARGV[2]) == 0 then return {0, delay} end
local crawl_delay = tonumber(ARGV[8])
robots_write(ARGV[1], ARGV[3], now + tonumber(ARGV[4]), ARGV[5], '-', ARGV[6])
local words = rule_words(text)
if crawl_delay > (words.r or 0) then
  words.r = crawl_delay
  redis.call('HSET', rules, ARGV[7], rule_text(words))
end
return {1, math.max(delay, crawl_delay)}
