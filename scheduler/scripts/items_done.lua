-- items_done: a consumer of a list lets go of what it holds.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  consumer, back (1: the items go back to where they were, at the head of the list; 0: they are done). When items is no list any
--       more, or a crawl has begun that makes a stream of them, those that go back stay in hand, for the next consumer to take over at once.
-- Returns how many there were; 0 when another has taken them over.
local mine = held(ARGV[1])
local got, back = redis.call('LRANGE', mine, 0, -1), {}
redis.call('ZCARD', consumers)
if ARGV[2] == '1' then
  local kind = redis.call('TYPE', items).ok
  local stream = string.sub(redis.call('HGET', meta, 'set:items_type') or '', 1, 6) == 'stream'
  if #got > 0 and kind ~= 'list' and (kind ~= 'none' or stream) then
    keep(ARGV[1], 0)
    return #got
  end
  for i = #got, 1, -1 do back[#back + 1] = got[i] end
end
redis.call('ZREM', consumers, ARGV[1])
each('LPUSH', items, back)
redis.call('UNLINK', mine)
return #got
