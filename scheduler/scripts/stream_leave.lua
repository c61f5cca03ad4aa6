-- stream_leave: take a consumer of a stream off its group, and those that were killed an hour ago. One that has entries pending stays: they
-- would be lost with it.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  group, consumer
-- Returns how many were taken off.
local known, n = redis.pcall('XINFO', 'CONSUMERS', items, ARGV[1]), 0
if known.err then return 0 end -- the stream or the group is gone
for _, one in ipairs(known) do
  local of = {}
  for i = 1, #one, 2 do of[one[i]] = one[i + 1] end
  if of.pending == 0 and (of.name == ARGV[2] or of.idle > 3600000) then
    redis.call('XGROUP', 'DELCONSUMER', items, ARGV[1], of.name)
    n = n + 1
  end
end
return n
