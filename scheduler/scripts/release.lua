-- release: hand leases back at once; place and attempts are kept.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  id...
-- Returns 1.
local ids = {}
for i = 1, #ARGV do ids[i] = ARGV[i] end
giveback(ids, 0, 256)
return 1
