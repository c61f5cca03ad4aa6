-- stream_idle: how long the entries that are pending with a consumer of a stream have been idle. What others have claimed stays theirs.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  group, consumer, ms (0: a sign of life; more than any hold: the next consumer may claim them)
-- Returns how many entries there are.
local pending = redis.pcall('XPENDING', items, ARGV[1], '-', '+', 10000, ARGV[2])
if pending.err then return 0 end -- the stream or the group is gone
for i, entry in ipairs(pending) do
  redis.call('XCLAIM', items, ARGV[1], ARGV[2], 0, entry[1], 'IDLE', ARGV[3], 'JUSTID')
end
return #pending
