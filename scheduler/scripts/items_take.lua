-- items_take: the next items of a list into the hands of a consumer. What it holds comes again, so that an answer that was lost loses
-- nothing; then what a consumer held that has given no sign of life; then the oldest of the list. When items is a stream by now, what was
-- held of the list is still taken over.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  consumer, items at most, ms that it holds them without a sign of life
-- Returns {TYPE of items, items that others hold, item...}; of another type than list or stream nothing is taken.
local kind = redis.call('TYPE', items).ok
if kind ~= 'list' and kind ~= 'none' and kind ~= 'stream' then return {kind, 0} end
local me, mine, others, left, gone = ARGV[1], held(ARGV[1]), 0, '', {}
local got, known = redis.call('LRANGE', mine, 0, -1), redis.call('ZRANGE', consumers, 0, -1, 'WITHSCORES')
for i = 1, #known, 2 do
  if known[i] ~= me then
    local n = redis.call('LLEN', held(known[i]))
    if n > 0 and left == '' and tonumber(known[i + 1]) <= now then
      left = known[i]
    elseif n > 0 then
      others = others + n
    elseif tonumber(known[i + 1]) <= now then
      gone[#gone + 1] = known[i]
    end
  end
end
if #got == 0 and left ~= '' then
  got = redis.call('LRANGE', held(left), 0, -1)
  gone[#gone + 1] = left
  keep(me, tonumber(ARGV[3]))
  redis.call('RENAME', held(left), mine)
elseif #got == 0 and kind == 'list' then
  got = redis.call('LRANGE', items, 0, tonumber(ARGV[2]) - 1)
  if #got > 0 then
    keep(me, tonumber(ARGV[3]))
    redis.call('LTRIM', items, #got, -1)
    each('RPUSH', mine, got)
  end
elseif #got > 0 then
  if left ~= '' then others = others + redis.call('LLEN', held(left)) end
  keep(me, tonumber(ARGV[3]))
end
each('ZREM', consumers, gone)
local reply = {kind, others}
for _, item in ipairs(got) do reply[#reply + 1] = item end
return reply
