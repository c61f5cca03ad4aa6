-- note: a line in a spider's history about what was done in several steps.
--
-- KEYS  all (parts/keys.lua), then the registry's (parts/registry.lua)
-- ARGV  spider, event as JSON, channel
-- Returns the version of the change.
redis.call('LLEN', log)
return changed(ARGV[1], ARGV[2], ARGV[3])
