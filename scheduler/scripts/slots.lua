-- slots: a bounded look at the slots of a crawl, by what they wait for. It costs the same however much is pending.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  how many slots of each kind at most, a slot (optional: a look at this one alone)
-- Returns {now, due, waiting, full, page budget (0: none), {slot ...}, {later: slot, requests, first due ms ...}, most requests in flight (0: no limit), in flight}
--   due, waiting, full: how many slots there are of the kind: their time has come, it has not, they are at their concurrency.
--   slot: name, kind (1 due, 2 waiting, 3 full, 0 none: it has no queue), next start ms, leases, delay ms, concurrency, who says the delay (parts/rules.lua; or
--         refused: what the site has refused, latency: its latency),
--         randomized (1 or 0), queued (-1: another type), why its next start is so late ('' for its delay), pages that callbacks had
--   later: slots of the first requests that may not start yet: 100, or those among them of the one slot
local LATER = 100
local parked = '(' .. string.format('%.0f', PARK - 1)
local ranges = {{'-inf', now}, {'(' .. now, string.format('%.0f', PARK - 1)}, {parked, '+inf'}}
local set = redis.call('HMGET', meta, 'kept:download_delay', 'set:download_delay_ms', 'kept:concurrent_requests_per_domain', 'set:concurrent_requests_per_domain',
  'kept:randomize_download_delay', 'set:randomize_download_delay', 'kept:closespider_pagecount_per_slot', 'set:closespider_pagecount_per_slot', 'total')
local delay, concurrency, randomize = tonumber(set[1] or set[2] or '') or 0, tonumber(set[3] or set[4] or '') or 0, (set[5] or set[6]) == 'true'
local list, shown = {}, {}

-- reason is what has put a slot's next start off: of what slots are held for, the one that lasts as long as the slot waits.
local function reason(slot, start)
  for _, why in ipairs({'retry-after', 'robots'}) do
    local upto = tonumber(redis.call('ZSCORE', holds, why .. ' ' .. slot) or 0)
    if upto > now and upto >= start then return why end
  end
  return ''
end

local function show(kind, names, starts)
  if #names == 0 then return end
  local held, own, had = redis.call('HMGET', busy, unpack(names)), redis.call('HMGET', rules, unpack(names)), redis.call('HMGET', pages, unpack(names))
  local slow = redis.call('HMGET', throttle, unpack(names))
  for k, slot in ipairs(names) do
    local start = starts[k]
    shown[slot] = true
    if start >= PARK then start = start - PARK end
    local queued = redis.pcall('ZCARD', queue(slot))
    if type(queued) ~= 'number' then queued = -1 end
    local d, c, j, source = rule(own[k] or '', delay, concurrency, randomize)
    local slower, refused = throttle_read(slow[k])
    if slower and slower > d then
      d = slower
      source = 'latency'
      if refused > 0 then source = 'refused' end
    end
    if slot == SEEDS then
      d = 0
      c = 0
    end
    local random = '0'
    if j then random = '1' end
    for _, v in ipairs({slot, tostring(kind), string.format('%.0f', start), held[k] or '0', string.format('%.0f', d), string.format('%.0f', c), source, random,
      tostring(queued), reason(slot, start), string.match(had[k] or '0', '^%d+') or '0'}) do list[#list + 1] = v end
  end
end

local counts = {}
for i, range in ipairs(ranges) do
  counts[i] = redis.call('ZCOUNT', slots, range[1], range[2])
  if counts[i] > 0 and not ARGV[2] then
    local found, names, starts = redis.call('ZRANGEBYSCORE', slots, range[1], range[2], 'WITHSCORES', 'LIMIT', 0, ARGV[1]), {}, {}
    for k = 1, #found, 2 do
      names[#names + 1] = found[k]
      starts[#starts + 1] = tonumber(found[k + 1])
    end
    show(i, names, starts)
  end
end
if ARGV[2] then
  local start = tonumber(redis.call('ZSCORE', slots, ARGV[2]) or -1)
  local kind = 2
  if start < 0 then
    kind = 0
  elseif start >= PARK then
    kind = 3
  elseif start <= now then
    kind = 1
  end
  show(kind, {ARGV[2]}, {math.max(start, 0)})
end

local later, at = {}, {}
local found = redis.call('ZRANGE', delayed, 0, LATER - 1, 'WITHSCORES')
for k = 1, #found, 2 do
  local _, _, slot = string.find(found[k], '^[^ \n]* ([^\n]*)\n')
  if slot and (not ARGV[2] or slot == ARGV[2]) then
    if not at[slot] then
      later[#later + 1] = slot
      later[#later + 1] = 0
      later[#later + 1] = string.format('%.0f', tonumber(found[k + 1]))
      at[slot] = #later - 1
    end
    later[at[slot]] = later[at[slot]] + 1
  end
end
local names, starts = {}, {}
for k = 1, #later, 3 do
  later[k + 1] = tostring(later[k + 1])
  if not shown[later[k]] and #names < tonumber(ARGV[1]) and not redis.call('ZSCORE', slots, later[k]) then
    names[#names + 1] = later[k]
    starts[#starts + 1] = tonumber(later[k + 2])
  end
end
show(0, names, starts)
return {now, counts[1], counts[2], counts[3], tonumber(set[7] or set[8] or '') or 0, list, later, tonumber(set[9] or '') or 0, in_flight()}
