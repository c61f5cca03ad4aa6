-- What responses say of the pace that their sites bear. As with leases that end (free.lua), all reading comes before the first
-- write: heed reads, slow writes.
--   names: slots, each once      notes: slot -> {outcome ...}, with answer: '<kind><latency ms> <leased ms>', and number
--   kind: + taken, = answered, which is no reason to go faster, - refused      leased: when the request was handed out
-- ARGV 7 to 9 of the script: the most that a delay becomes (ms), 1000 times the concurrency that delays by latency aim at (0: none
-- are), the delay by latency of a slot of which nothing is known (ms). ARGV 10: 1 to tell of each change of a delay.
local most, aimed, start = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local FIRST = 1000      -- ms: the least delay after a first refusal
local RECOVER = 0.9     -- what a page that is taken makes of the delay after refusals
local LEAST = 50        -- ms: below this a delay after refusals is over
local KEEP = 600000     -- ms: an entry is kept for so long and ten delays

-- refuse doubles the delay. What was leased before it last grew knows nothing of that, so many refusals in flight are one.
local function refuse(e, slot, leased)
  if leased <= e.refused then return end
  local base = pace(slot, 0)
  if e.delay then
    e.delay = 2 * math.max(e.delay, base)
  else
    e.delay = math.max(FIRST, 2 * base)
  end
  e.delay = math.min(e.delay, most)
  e.refused = now
  e.held = now + e.delay
end

-- by_latency is Scrapy's rule: half way to the latency by target concurrency, at once where that is more. After a refusal it is slower downwards.
local function by_latency(e, faster, latency, leased)
  local was, aim = e.delay or start, math.ceil(1000 * latency / aimed)
  local new = math.max(aim, math.floor((was + aim) / 2))
  if e.refused > 0 then
    if leased <= e.refused then
      new = math.max(new, was)
    else
      new = math.max(new, math.floor(RECOVER * was))
    end
  end
  if faster or new > was then
    e.delay = math.min(new, most)
    if new <= aim then e.refused = 0 end
  end
end

local function recover(e, leased)
  if not e.delay or leased <= e.refused then return end
  e.delay = math.floor(RECOVER * e.delay)
  if e.delay < LEAST then e.delay = nil end
end

-- teller gives the function that tells how an outcome has changed the delay of its slot, with what the slot's own is taken into account.
local function teller(slot, told)
  if ARGV[10] ~= '1' then return function() end end
  local own = pace(slot, 0)
  return function(number, was, delay)
    was = math.max(own, was or start)
    delay = math.max(own, delay or start)
    if was == delay then return end
    for _, n in ipairs({number, was, delay}) do told[#told + 1] = string.format('%.0f', n) end
  end
end

local function heed(names, notes, hold)
  local w = {set = {}, gone = {}, told = {}, asked = #names > 0}
  if not w.asked then return w end
  w.count = redis.call('HLEN', throttle)
  local was, new = redis.call('HMGET', throttle, unpack(names)), false
  for k, slot in ipairs(names) do
    local e = {}
    e.delay, e.refused = throttle_read(was[k])
    local tell = teller(slot, w.told)
    for _, one in ipairs(notes[slot]) do
      local _, _, kind, latency, leased = string.find(one.answer, '^(.)(%d+) (%d+)$')
      local before = e.delay
      leased = tonumber(leased)
      if kind == '-' then
        refuse(e, slot, leased)
      elseif aimed > 0 then
        by_latency(e, kind == '+', tonumber(latency), leased)
      elseif kind == '+' then
        recover(e, leased)
      end
      tell(one.number, before, e.delay)
    end
    if e.held then hold[slot] = math.max(hold[slot] or 0, e.held) end
    if e.delay then
      w.set[#w.set + 1] = slot
      w.set[#w.set + 1] = string.format('%.0f %.0f %.0f', e.delay, e.refused, now + KEEP + 10 * e.delay)
      if not was[k] then
        w.count = w.count + 1
        new = true
      end
    elseif was[k] then
      w.gone[#w.gone + 1] = slot
    end
  end
  if new then                                        -- each new one looks at some others, so that those which are over do not gather
    local some = redis.call('HRANDFIELD', throttle, 4, 'WITHVALUES')
    for i = 1, #some, 2 do
      if not notes[some[i]] and not throttle_read(some[i + 1]) then w.gone[#w.gone + 1] = some[i] end
    end
  end
  w.count = w.count - #w.gone
  return w
end

local function slow(w, flag)
  if not w.asked then return end
  each('HDEL', throttle, w.gone)
  each('HSET', throttle, w.set)
  if w.count == 0 then
    if flag then redis.call('HDEL', meta, 'throttled') end
  elseif flag ~= tostring(w.count) then
    redis.call('HSET', meta, 'throttled', w.count)
  end
end
