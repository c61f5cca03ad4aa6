-- agree: per-fleet settings that a push has changed, for all workers: those that run, by the next lease, and those that join later.
--
-- KEYS  all (parts/keys.lua), then the registry's (parts/registry.lua)
-- ARGV  version of the entry that was pushed, (setting, value)...
-- Returns 1, or 0 when those of a later push stand already.
local mine = tonumber(ARGV[1])
local was = tonumber(redis.call('HGET', meta, 'set_version') or 0) or 0
local latest = tonumber(redis.call('GET', version) or 0) or 0
if was > latest then was = 0 end -- of a registry that was lost: versions have begun anew
if mine < was then return 0 end
local set = {'set_version', ARGV[1]}
for i = 2, #ARGV, 2 do
  set[#set + 1] = 'set:' .. ARGV[i]
  set[#set + 1] = ARGV[i + 1]
end
each('HSET', meta, set)
return 1
