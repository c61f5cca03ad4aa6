-- finish: announce that the crawl is finished, if it is.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  none
-- Returns 1 for the one caller who may announce it, else 0.
local pending, held, seeds = left()
if redis.call('HGET', meta, 'state') == 'draining' then seeds = 0 end  -- they are not for now
if pending + held + seeds > 0 then return 0 end
return redis.call('HSETNX', meta, 'finished', now)
