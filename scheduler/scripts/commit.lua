-- commit: store what leases caused and end them, or refuse outcomes whose lease is no longer held.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  process, number (its count of commits: 1, 2, 3...), lifo (1 or 0), tell (1: say which children were added), outcomes,
--       maxlen (of items as a stream, where an item is its id, a line feed and itself; 0: items is a list),
--       and for parts/answers.lua: the most that a delay becomes, 1000 times the target concurrency, the first delay by latency,
--       1 to say how delays change;
--       then for each outcome:
--         id/head        the lease, and the first 14 characters of its member: both must match (the fence).
--                        '/' alone: requests that no lease caused (start URLs)
--                        '/' + 40 hex: the same, stored only if the filter has not the 40 hex, which enter it
--         final          1: the lease ends; 0: only children, more of this outcome follows
--         given_up       1: counts as dead and not as done
--         hold           '0', or '<ms> <why>': keep off the slot for so long
--         answer         what the response says of the pace that its site bears (parts/answers.lua); '' for nothing
--         ni item...  nd letter...  counters  nc (fingerprint slot score when json)...
--       then nt (counter by)...: the counters of all outcomes added up
--       and last (outcome field value condition)...: the cookies that an outcome changes; value '' deletes; condition is '', or 'plain', 'yields' or
--         both and the last change that its worker knew (parts/cookieguard.lua)
--       counters: '<by> <counter>\n'..., read only when the outcome is stale, to take them off the sums, or when there is a budget of pages
--       fingerprint: 40 hex = check and record; '!' + 40 hex = record only
--       when: '0' at once, '1500' ms from now, '@1700000000000' at that time (ms), '1500@1700000000000' the later of both
-- Returns {'OK' | 'DUP' | 'LATE' | 'ROLLBACK', now, epoch, paused, pending, flags, added, filtered, changes}
--   flags: for each outcome '1' stored, '0' stale. DUP has those of the first time. LATE (an older number) and ROLLBACK
--   (Redis has forgotten commits of this process) have written nothing.
--   added: for each child of all outcomes '1' added, '0' not.
--   filtered: how many children were duplicates.
--   changes: of the delays of slots: (number of the outcome, ms before, ms after)... DUP has none.
local at = 10
local function count()
  at = at + 1
  local v = tonumber(ARGV[at])
  if not v or v < 0 or v ~= math.floor(v) then error('commit: argument ' .. at .. ' is not a count') end
  return v
end

-- hold reads how long to keep off a slot, and why.
local function hold_of()
  at = at + 1
  if ARGV[at] == '0' then return 0 end
  local _, _, ms, why = string.find(ARGV[at] or '', '^(%d+) (%l[%l-]*)$')
  if not ms then error('commit: argument ' .. at .. ' is no hold') end
  return tonumber(ms), why
end

-- 1. read the arguments; an error here has written nothing
local number, lifo, outcomes, ids = tonumber(ARGV[2]), ARGV[3] == '1', {}, {}
local stream = ARGV[6] ~= '0'
for o = 1, tonumber(ARGV[5]) do
  at = at + 1
  local one, slash = {number = o}, string.find(ARGV[at], '/', 1, true)
  if not slash then error('commit: argument ' .. at .. ' is not a lease') end
  one.id = string.sub(ARGV[at], 1, slash - 1)
  one.head = string.sub(ARGV[at], slash + 1)
  one.final = count()
  one.given_up = count()
  one.hold, one.why = hold_of()
  at = at + 1
  one.answer = ARGV[at] or ''
  if one.answer ~= '' and not string.find(one.answer, '^[-+=]%d+ %d+$') then error('commit: argument ' .. at .. ' is not an answer') end
  one.ni = count()
  one.i = at
  at = at + one.ni
  one.nd = count()
  one.d = at
  at = at + one.nd
  at = at + 1
  one.counters = at
  one.nc = count()
  one.c = at
  at = at + 5 * one.nc
  for k = one.c + 1, at, 5 do
    if not ARGV[k + 4] or not tonumber(ARGV[k + 2]) then error('commit: argument ' .. k .. ' is not a child') end
  end
  outcomes[o] = one
  ids[o] = one.id
end
local by = {}
for _ = 1, count() do
  at = at + 2
  by[ARGV[at - 1] or ''] = tonumber(ARGV[at] or '') or error('commit: argument ' .. at .. ' is not a number')
end
local jars = at
for k = jars + 1, #ARGV, 4 do
  at = k + 3
  if not outcomes[tonumber(ARGV[k])] or ARGV[at] ~= '' and not string.find(ARGV[at] or '-', '^[%l ]+ %-?%d+$') then error('commit: argument ' .. k .. ' is not an outcome') end
end
if at ~= #ARGV then error('commit: ' .. #ARGV .. ' arguments, read ' .. at) end

-- 2. read all keys that are written below; a key of another type fails here
local state = redis.call('HMGET', meta, 'epoch', 'paused', 'pending', 'seq', 'dequeued', 'finished', 'kept:closespider_pagecount_per_slot',
  'set:closespider_pagecount_per_slot', 'throttled')
local budget = (tonumber(state[7] or state[8] or '') or 0) > 0
local res = {'OK', now, state[1] or '0', state[2] or '0', state[3] or '0', '', '', 0, {}}
local _, _, last, answered = string.find(redis.call('HGET', commits, ARGV[1]) or '0 ', '^(%d+) (%d*)$')
last = tonumber(last or 0)
if last == number then
  res[1] = 'DUP'
  res[6] = answered
  return res
elseif last > number then
  res[1] = 'LATE'
  return res
elseif last < number - 1 then
  res[1] = 'ROLLBACK'
  return res
end
local recs = redis.call('HMGET', inflight, unpack(ids))
local flags, fresh, taken, ask, seen = {}, {}, {}, {}, {}
for o, one in ipairs(outcomes) do
  flags[o] = '0'
  if recs[o] and not taken[one.id] then
    local _, slot, _, member, landed = parse(recs[o])
    if string.sub(member, 1, 14) == one.head then
      taken[one.id] = true
      one.slot = slot
      one.landed = landed
      one.page = budget and not landed and string.find(ARGV[one.counters], ' response_received_count\n', 1, true)
        and not string.find(ARGV[one.counters], ' httperror/response_ignored_count\n', 1, true) and not for_file(string.sub(member, 15))
    end
  end
  local once = one.id == '' and one.head ~= ''
  if once and not taken[one.head] and redis.call('SISMEMBER', dupefilter, one.head) == 0 then
    taken[one.head] = true
    one.once = one.head
  end
  if one.slot or one.once or one.id == '' and not once then
    flags[o] = '1'
    fresh[#fresh + 1] = one
    for k = one.c + 1, one.c + 5 * one.nc, 5 do
      local f = ARGV[k]
      if #f == 40 and seen[f] == nil then
        seen[f] = false
        ask[#ask + 1] = f
      end
    end
  end
end
for i = 1, #ask, 1000 do
  local got = redis.call('SMISMEMBER', dupefilter, unpack(ask, i, math.min(i + 999, #ask)))
  for k, v in ipairs(got) do
    if v == 1 then seen[ask[i + k - 1]] = true end
  end
end

-- 3. work out what to write
local put, letters, record, filtered = {}, {}, {}, 0
local order, byslot, later, nkids, delays = {}, {}, {}, 0, false
local names, ended, hold, held, over, added, done, given_up = {}, {}, {}, {}, {}, {}, 0, 0
local seq, sites, paged = tonumber(state[4] or 0), {}, {}
local answered_by, notes = {}, {}

local function due(when)
  if when == '0' then return 0 end
  delays = true
  local _, _, rel, abs = string.find(when, '^(%d*)@?(%d*)$')
  local t = 0
  if rel and rel ~= '' then t = now + tonumber(rel) end
  if abs and abs ~= '' then t = math.max(t, tonumber(abs)) end
  if t <= now then return 0 end
  return t
end

local function add(k)
  nkids = nkids + 1
  seq = seq + 1
  local place = seq
  if lifo then place = 281474976710655 - seq end
  local head, slot, score, start = string.format('%012x', place) .. '00', ARGV[k + 1], ARGV[k + 2], due(ARGV[k + 3])
  if start > 0 then
    later[#later + 1] = start
    later[#later + 1] = head .. score .. ' ' .. slot .. '\n' .. ARGV[k + 4]
  else
    enlist(order, byslot, slot, score, head .. ARGV[k + 4])
  end
end

for _, one in ipairs(fresh) do
  for k = one.i + 1, one.i + one.ni do
    if stream and not string.find(ARGV[k], '\n', 1, true) then error('commit: argument ' .. k .. ' is not an item with its id') end
    put[#put + 1] = ARGV[k]
  end
  if one.once then record[#record + 1] = one.once end
  for k = one.d + 1, one.d + one.nd do letters[#letters + 1] = ARGV[k] end
  for k = one.c + 1, one.c + 5 * one.nc, 5 do
    local f = ARGV[k]
    if #f == 40 and seen[f] then
      filtered = filtered + 1
    else
      if #f == 41 then f = string.sub(f, 2) end
      seen[f] = true
      record[#record + 1] = f
      add(k)
      added[k] = true
    end
  end
  if one.final == 1 and one.slot then
    local slot = one.slot
    ends(names, ended, slot, one.landed)
    if one.page and slot ~= SEEDS then
      if not paged[slot] then sites[#sites + 1] = slot end
      paged[slot] = (paged[slot] or 0) + 1
    end
    if one.answer ~= '' and slot ~= SEEDS and (state[9] or aimed > 0 or string.sub(one.answer, 1, 1) == '-') then
      if not notes[slot] then
        notes[slot] = {}
        answered_by[#answered_by + 1] = slot
      end
      table.insert(notes[slot], one)
    end
    if one.hold > 0 and slot ~= SEEDS then
      hold[slot] = math.max(hold[slot] or 0, now + one.hold)
      held[#held + 1] = now + one.hold
      held[#held + 1] = one.why .. ' ' .. slot
    end
    over[#over + 1] = one.id
    if one.given_up == 1 then given_up = given_up + 1 else done = done + 1 end
  end
end
for o, one in ipairs(outcomes) do
  if flags[o] == '0' then
    for n, name in string.gmatch(ARGV[one.counters], '(%-?%d+) ([^\n]*)\n') do
      by[name] = (by[name] or 0) - tonumber(n)
    end
  end
end
local function bump(name, n)
  if n > 0 then by[name] = (by[name] or 0) + n end
end
bump('scheduler/enqueued', nkids)
bump('scheduler/done', done)
bump('scheduler/dead', given_up)
bump('dupefilter/filtered', filtered)
local changed = weigh_cookies(jars, flags)
if changed then bump('cookies/refused', changed.refused) end
if #put > 0 then redis.call(stream and 'XLEN' or 'LLEN', items) end
if #letters > 0 or nkids > 0 then redis.call('LLEN', dead) end
if #record > 0 and #ask == 0 then redis.call('SCARD', dupefilter) end
if delays then redis.call('ZCARD', delayed) end
if #held > 0 then redis.call('ZCARD', holds) end
redis.call('ZCARD', leases)
if #names == 0 then redis.call('ZCARD', slots) end
local slower = heed(answered_by, notes, hold)
local weighed = weigh(names, ended, hold)
local put_pages = {}
if #sites > 0 then
  for i, record in ipairs(redis.call('HMGET', pages, unpack(sites))) do
    local n, rest = had(record)
    put_pages[#put_pages + 1] = sites[i]
    put_pages[#put_pages + 1] = n + paged[sites[i]] .. rest
  end
end
local fields, sums = {}, {}
for f, n in pairs(by) do
  if n ~= 0 then fields[#fields + 1] = f end
end
for i = 1, #fields, 1000 do
  local j = math.min(i + 999, #fields)
  local was = redis.call('HMGET', stats, unpack(fields, i, j))
  for k = i, j do
    sums[#sums + 1] = fields[k]
    sums[#sums + 1] = string.format('%.0f', (tonumber(was[k - i + 1] or 0) or 0) + by[fields[k]])
  end
end
if #fields == 0 then redis.call('HLEN', stats) end

-- 4. write. What needs memory comes first: out of memory a script fails at its first write. The lease ends last.
if changed then write_cookies(changed) end
if stream then
  for _, v in ipairs(put) do
    local cut = string.find(v, '\n', 1, true)
    redis.call('XADD', items, 'MAXLEN', '~', ARGV[6], '*', 'item', string.sub(v, cut + 1), 'item_id', string.sub(v, 1, cut - 1))
  end
else
  each('RPUSH', items, put)
end
each('SADD', dupefilter, record)
local refused = push(order, byslot)
for _, lost in ipairs(refused) do
  letters[#letters + 1] = letter('wrong_type', lost[3], lost[1], '', 0, string.sub(lost[2], 15))
end
each('RPUSH', dead, letters)
each('ZADD', delayed, later)
if nkids > 0 then
  local pending = tonumber(res[5]) + nkids - #refused
  res[5] = tostring(pending)
  redis.call('HSET', meta, 'seq', string.format('%.0f', seq), 'pending', pending)
  if state[6] then redis.call('HDEL', meta, 'finished') end
end
if #fields > 0 then
  sums[#sums + 1] = 'scheduler/dequeued'
  sums[#sums + 1] = state[5] or '0'
  each('HSET', stats, sums)
end
if #refused > 0 then redis.call('HINCRBY', stats, 'scheduler/dead', #refused) end
slow(slower, state[9])
each('HSET', pages, put_pages)
if #held > 0 then
  redis.call('ZREMRANGEBYSCORE', holds, '-inf', now)
  redis.call('ZADD', holds, 'GT', unpack(held))
end
settle(weighed)
res[6] = table.concat(flags)
res[8] = filtered
res[9] = slower.told or {}
redis.call('HSET', commits, ARGV[1], number .. ' ' .. res[6])
each('ZREM', leases, over)
each('HDEL', inflight, over)
if ARGV[4] == '1' then
  local told = {}
  for _, one in ipairs(outcomes) do
    for k = one.c + 1, one.c + 5 * one.nc, 5 do
      if added[k] then told[#told + 1] = '1' else told[#told + 1] = '0' end
    end
  end
  res[7] = table.concat(told)
end
return res
