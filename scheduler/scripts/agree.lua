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
local own, set = redis.call('HGET', meta, 'set:download_slots') or '', {'set_version', ARGV[1]}
local write_rules = file_rules(own, own)
for i = 2, #ARGV, 2 do
  set[#set + 1] = 'set:' .. ARGV[i]
  set[#set + 1] = ARGV[i + 1]
  if ARGV[i] == 'download_slots' then write_rules = file_rules(own, ARGV[i + 1]) end
end
each('HSET', meta, set)
settle_total()
write_rules()
return 1
