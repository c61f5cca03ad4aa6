-- Leases that ended leave their slots in two steps, so that all reading comes before the first write:
-- weigh reads, settle writes. A parked slot comes back with the time it had.
--   names: slots, each once      ended: slot -> how many of its leases ended (less than 0: so many more)
--   hold: slot -> do not start there before this time (ms)

-- ends notes the end of one lease in names and ended. One whose page has landed has left its slot's place before.
local function ends(names, ended, slot, landed)
  if not ended[slot] then
    ended[slot] = 0
    names[#names + 1] = slot
  end
  if landed then return ends(names, ended, SHORE) end
  ended[slot] = ended[slot] + 1
end

local function weigh(names, ended, hold)
  local set, gone, back = {}, {}, {}
  for i = 1, #names, 1000 do
    local j = math.min(i + 999, #names)
    local count = redis.call('HMGET', busy, unpack(names, i, j))
    local score = redis.call('ZMSCORE', slots, unpack(names, i, j))
    for k = i, j do
      local slot = names[k]
      local left = (tonumber(count[k - i + 1] or 0) or 0) - ended[slot]
      if left > 0 then
        set[#set + 1] = slot
        set[#set + 1] = left
      else
        gone[#gone + 1] = slot
      end
      local was = tonumber(score[k - i + 1] or 0)
      local nxt = was
      if nxt >= PARK then nxt = nxt - PARK end
      if hold[slot] and hold[slot] > nxt then nxt = hold[slot] end
      if nxt ~= was then
        back[#back + 1] = nxt
        back[#back + 1] = slot
      end
    end
  end
  return {set = set, gone = gone, back = back}
end

local function settle(w)
  each('HDEL', busy, w.gone)
  each('HSET', busy, w.set)
  each('ZADD', slots, w.back)
end
