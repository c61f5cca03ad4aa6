-- robots_look: what is known of a host's robots.txt; with nothing known, the caller is the one who asks the host.
--
-- KEYS  all (parts/keys.lua), robots (parts/robots.lua)
-- ARGV  field, lease (of a page of the host), slot, the fleet's delay ms, again (1: the policy that is there cannot be read),
--       the delay ms of a slot of which nothing is known
-- Returns {state, ms, redirects, text, delay ms of the slot}
--   POLICY   text is good for so many ms
--   CLAIMED  somebody has been asking the host for so many ms
--   YOURS    the caller asks: text is the URL to go on with after so many redirects, '' for the host's own robots.txt
--   LATE     the lease is no longer held
local kind, upto, hops, holder, text = robots_record(ARGV[1])
local delay = pace(ARGV[3], tonumber(ARGV[4]))
delay = slowed(ARGV[3], delay, tonumber(ARGV[6]))
if kind == 'P' and upto > now and ARGV[5] ~= '1' then
  return {'POLICY', upto - now, 0, text, delay}
end
if kind == 'C' and holder ~= ARGV[2] and redis.call('HEXISTS', inflight, holder) == 1 then
  return {'CLAIMED', math.max(now - upto + CLAIM, 0), 0, '', delay}
end
if redis.call('HEXISTS', inflight, ARGV[2]) == 0 then return {'LATE', 0, 0, '', delay} end
if kind == 'P' or upto <= now then
  hops = 0
  text = ''
end
robots_write(ARGV[1], 'C', now + CLAIM, hops, ARGV[2], text)
return {'YOURS', 0, hops, text, delay}
