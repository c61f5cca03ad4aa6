-- items_keep: a sign of life of a consumer of a list.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  consumer, ms that it goes on to hold its items
-- Returns 1, or 0 when it holds none: another has taken them over.
if redis.call('LLEN', held(ARGV[1])) == 0 then return 0 end
redis.call('ZCARD', consumers)
keep(ARGV[1], tonumber(ARGV[2]))
return 1
