-- stream_idle: how long entries that are pending with a consumer of a stream have been idle. What others have claimed stays theirs.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  group, consumer, ms (0: a sign of life; more than any hold: the next consumer may claim them), id... (none: all of them)
-- Returns how many entries there are. A question that a broken connection delivers late names its entries, and hands no others back.
local function pending(from, to, most)
  local found = redis.pcall('XPENDING', items, ARGV[1], from, to, most, ARGV[2])
  if found.err then return {} end                   -- the stream or the group is gone
  return found
end

local n = 0
local function set(found)
  for _, entry in ipairs(found) do
    redis.call('XCLAIM', items, ARGV[1], ARGV[2], 0, entry[1], 'IDLE', ARGV[3], 'JUSTID')
    n = n + 1
  end
end
if #ARGV == 3 then set(pending('-', '+', 10000)) end
for i = 4, #ARGV do set(pending(ARGV[i], ARGV[i], 1)) end
return n
