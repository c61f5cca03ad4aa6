-- forget: take fingerprints out of the filter. A new epoch makes every worker drop what it remembers of the filter.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  fingerprint...
-- Returns how many were in it.
redis.call('HLEN', meta)
local n = 0
for i = 1, #ARGV, 1000 do
  n = n + redis.call('SREM', dupefilter, unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
if n > 0 then redis.call('HINCRBY', meta, 'epoch', 1) end
return n
