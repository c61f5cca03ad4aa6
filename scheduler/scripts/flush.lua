-- flush: throw away queues, leases and filter. Items, dead letters, stats, rules and seeds stay.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  none
-- Returns the new epoch.
return flush()
