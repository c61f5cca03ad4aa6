-- How far slots are slowed down by what their sites answer.
--
--   throttle   slot -> "<delay ms> <refused ms> <until ms>"
--              refused: when the delay last grew for an answer that refused, 0 when it is by latency alone
--              until: what nobody has needed until then is forgotten
-- S:meta "throttled" says how many there are, so that a crawl without any asks for none.

-- throttle_read reads an entry: delay, refused; nil for none, one that is over, and one that somebody has spoilt.
local function throttle_read(text)
  local _, _, delay, refused, upto = string.find(text or '', '^(%d+) (%d+) (%d+)$')
  if not delay or tonumber(upto) <= now then return nil, 0 end
  if tonumber(refused) > now then refused = 0 end   -- a Redis whose clock is behind that of the one before
  return tonumber(delay), tonumber(refused)
end

-- slowed is the delay in effect for a slot. start: that of a slot of which nothing is known.
local function slowed(slot, delay, start)
  return math.max(delay, throttle_read(redis.call('HGET', throttle, slot)) or start)
end
