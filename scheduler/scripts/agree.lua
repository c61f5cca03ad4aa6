-- agree: per-fleet settings that a push has changed, for all workers: those that run, by the next lease, and those that join later.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  (setting, value)...
-- Returns 1.
local set = {}
for i = 1, #ARGV, 2 do
  set[#set + 1] = 'set:' .. ARGV[i]
  set[#set + 1] = ARGV[i + 1]
end
each('HSET', meta, set)
return 1
