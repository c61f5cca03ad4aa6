-- lease: take back expired leases, move due delayed requests, hand out requests of slots that are due.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  nonce, n, lease ms, delay ms, concurrency, lease_attempts, worker's name,
--       worker, heartbeat ms (0: none), process, number (of its last commit), suspects: how many of them to hand out at most,
--       again: 1 when this nonce may have been asked before, rides: 1 when the commit of that number is sent just before,
--       the delay ms of a slot whose latency is not known (0: delays are not by latency),
--       held: requests that the worker has in flight, without those whose commit rides along
-- Nothing is handed out when the commit that it rides with was refused, nor when the process has committed since: then the question
-- was delayed on a broken connection, its answer came long ago, and some of those leases may have ended.
-- A suspect is a request whose leases have ended so often that it may be what kills its workers. A worker has one at a
-- time, so that a deadly one takes no others with it.
-- Live settings that people have made (kept:...) go before what the fleet has agreed on (set:...), and that before the worker's own.
-- Returns {wait ms, now, epoch, "<state> <version of the control> <last change of the cookies>[\n<slot>...]", pending, (id, slot, member)...}; the same nonce again gets the same
-- leases. The slots have had all their pages, which is told once: what else waits there is taken out.
local nonce, n = ARGV[1], tonumber(ARGV[2])
local upto, delay, concurrency, max = now + tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local state = redis.call('HMGET', meta, 'epoch', 'paused', 'pending', 'dequeued', 'state', 'control', 'kept:download_delay', 'kept:concurrent_requests_per_domain',
  'set:download_delay_ms', 'set:concurrent_requests_per_domain', 'kept:randomize_download_delay', 'set:randomize_download_delay',
  'kept:closespider_pagecount_per_slot', 'set:closespider_pagecount_per_slot', 'throttled', 'cookies', 'total')
local start = tonumber(ARGV[15])
local mode = state[5] or 'running'
if state[2] == '1' and mode ~= 'stopped' then mode = 'paused' end
local out = {0, now, state[1] or '0', mode .. ' ' .. (state[6] or '0') .. ' ' .. (state[16] or '0'), state[3] or '0'}
for _, i in ipairs({9, 7}) do
  if state[i] and tonumber(state[i]) then delay = tonumber(state[i]) end
  if state[i + 1] and tonumber(state[i + 1]) then concurrency = tonumber(state[i + 1]) end
end
local randomize, budget = (state[11] or state[12]) == 'true', tonumber(state[13] or state[14] or '') or 0

local _, _, last = string.find(redis.call('HGET', commits, ARGV[10]) or '', '^(%d+)')
local number, stored = tonumber(ARGV[11]), tonumber(last or 0)
if stored > number or ARGV[14] == '1' and stored ~= number then return out end

-- pace_of is the delay of a slot with that rule of its own and that entry in throttle, its concurrency, and whether the delay is randomized
local function pace_of(slot, own, slow)
  if slot == SEEDS then return 0, 1e9, false end
  local wait, limit, random = delay, concurrency, randomize
  if own then wait, limit, random = rule(own, delay, concurrency, randomize) end
  if slow or start > 0 then wait = math.max(wait, throttle_read(slow) or start) end
  return wait, limit, random
end

-- slow_of reads the entries in throttle of slots.
local function slow_of(names)
  if state[15] or start > 0 then return redis.call('HMGET', throttle, unpack(names)) end
  return {}
end

-- answer_again is for leases whose answer was lost: their pages start now, and not when they were handed out, so their slots wait from now on.
-- A slot in which another page has started since, or that is held, gets its page back.
local function answer_again(ids, records)
  local asked, names, again, back, renewed = {}, {}, {}, {}, {}
  for i = 1, #ids do
    if records[i] then
      local _, slot, _, member = parse(records[i])
      asked[#asked + 1] = {ids[i], slot, member}
      names[#names + 1] = slot
      ids[#asked] = ids[i]
    end
  end
  local own, score = redis.call('HMGET', rules, unpack(names)), redis.call('ZMSCORE', slots, unpack(names))
  local expiry, slow = redis.call('ZMSCORE', leases, unpack(ids, 1, #asked)), slow_of(names)
  for i, one in ipairs(asked) do
    local wait, _, random = pace_of(names[i], own[i], slow[i])
    local upon, park, longest = tonumber(score[i] or 0), 0, wait
    if random then longest = wait * 1.5 end
    if upon >= PARK then park = PARK end
    local next = upon - park
    if now < next and next > tonumber(expiry[i] or 0) - tonumber(ARGV[3]) + longest then
      back[#back + 1] = one[1]
    else
      if wait > 0 and next < now + wait then
        again[#again + 1] = now + wait + park
        again[#again + 1] = names[i]
      end
      renewed[#renewed + 1] = upto
      renewed[#renewed + 1] = one[1]
      for k = 1, 3 do out[#out + 1] = one[k] end
    end
  end
  if #back > 0 then giveback(back, 0, max) end
  redis.call('ZREM', slots, '@')                    -- what is allowed out of memory goes first; '@' is no slot's name
  if #renewed > 0 then redis.call('ZADD', leases, unpack(renewed)) end
  if #again > 0 then redis.call('ZADD', slots, unpack(again)) end
  out[5] = redis.call('HGET', meta, 'pending') or '0'
end

-- A question that is asked again may overtake itself. The copy that was sent first then finds leases that run: nobody waits for its answer any
-- more, and it changes nothing.
local ids, asked_before = {'-'}, false
for i = 1, n do ids[i] = nonce .. ':' .. i end
local running_since = redis.call('HMGET', inflight, unpack(ids))
for i = 1, #ids do
  if running_since[i] then asked_before = true end
end
if asked_before then
  if ARGV[13] == '1' then
    answer_again(ids, running_since)
    return out
  end
  for i = 1, #ids do
    if running_since[i] then
      local _, slot, _, member = parse(running_since[i])
      for _, v in ipairs({ids[i], slot, member}) do out[#out + 1] = v end
    end
  end
  return out
end

local function wake_delayed(due)
  local order, byslot = {}, {}
  for _, m in ipairs(due) do
    local a = string.find(m, '\n', 1, true)
    local s = string.find(m, ' ', 1, true)
    if string.find(m, HEAD) and s and a and s < a then
      enlist(order, byslot, string.sub(m, s + 1, a - 1), string.sub(m, 15, s - 1), string.sub(m, 1, 14) .. string.sub(m, a + 1))
    end
  end
  redis.call('LLEN', dead)
  redis.call('HLEN', stats)
  redis.call('ZREM', delayed, unpack(due))
  local letters = {}
  for _, lost in ipairs(push(order, byslot)) do
    letters[#letters + 1] = letter('wrong_type', lost[3], lost[1], '', 0, string.sub(lost[2], 15))
  end
  if #letters > 0 then
    each('RPUSH', dead, letters)
    redis.call('HINCRBY', stats, 'scheduler/dead', #letters)
    redis.call('HINCRBY', meta, 'pending', -#letters)
  end
end

local expired = redis.call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', 0, 100)
local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', now, 'LIMIT', 0, 100)
if #expired > 0 then giveback(expired, 1, max) end
if #due > 0 then wake_delayed(due) end
if #expired > 0 or #due > 0 then
  out[5] = redis.call('HGET', meta, 'pending') or '0'
end

local function beat()
  if ARGV[9] ~= '0' then redis.pcall('ZADD', workers, now + tonumber(ARGV[9]), ARGV[8]) end
end
if mode == 'paused' or mode == 'stopped' then
  beat()
  out[1] = 1000
  return out
end

-- foreign members of the bare requests key are another program's: they go back, and ours behind them are looked for
local function around_foreign(want, got, theirs)
  each('ZADD', requests, theirs)
  local from = #theirs / 2
  for page = 1, 10 do
    if #got >= 2 * want then return true end
    local look, mine = redis.call('ZRANGE', requests, from, from + 99, 'WITHSCORES'), {}
    for i = 1, #look, 2 do
      if not string.find(look[i], HEAD) then
        from = from + 1
      elseif #got < 2 * want then
        mine[#mine + 1] = look[i]
        got[#got + 1] = look[i]
        got[#got + 1] = look[i + 1]
      end
    end
    if #mine > 0 then redis.call('ZREM', requests, unpack(mine)) end
    if #look < 200 then return false end
  end
  return true
end

local suspects, suspicious = tonumber(ARGV[12]), math.max(1, math.min(2, max - 1))

-- pop takes up to want members of ours; more says that there may be others, held that suspects were left there
local function pop(slot, want)
  local popped = redis.pcall('ZPOPMIN', queue(slot), want)   -- another type: an error table, of length 0
  local got, theirs, more, back = {}, {}, #popped == 2 * want, {}
  for j = 1, #popped, 2 do
    local ours = string.find(popped[j], HEAD)
    local suspect = ours and tonumber(string.sub(popped[j], 13, 14), 16) >= suspicious
    if suspect and suspects <= 0 then
      back[#back + 1] = popped[j + 1]
      back[#back + 1] = popped[j]
    elseif ours then
      if suspect then suspects = suspects - 1 end
      got[#got + 1] = popped[j]
      got[#got + 1] = popped[j + 1]
    else
      theirs[#theirs + 1] = popped[j + 1]
      theirs[#theirs + 1] = popped[j]
    end
  end
  each('ZADD', queue(slot), back)
  if #theirs > 0 and slot == '' then
    return got, around_foreign(want, got, theirs), true, #back > 0
  end
  for j = 2, #theirs, 2 do
    redis.pcall('RPUSH', dead, letter('unreadable', 'a member of ' .. queue(slot) .. ' that is no request of luacrawl', slot, '', 0, theirs[j]))
    redis.pcall('HINCRBY', stats, 'scheduler/enqueued', 1)
    redis.pcall('HINCRBY', stats, 'scheduler/dead', 1)
  end
  return got, more or #back > 0, false, #back > 0
end

-- drop takes requests of a slot that has had all its pages out of its queue. Up to want of those for files of items are handed out.
local DROPS, dropped, told = 1000, 0, {}            -- in one script, about
local function drop(slot, want, record)
  local kept_suspects, got, back, n = suspects, {}, {}, 0
  suspects = 1e9
  local popped, more, shared = pop(slot, 200)
  suspects = kept_suspects
  for j = 1, #popped, 2 do
    local member = popped[j]
    local suspect = tonumber(string.sub(member, 13, 14), 16) >= suspicious
    if not for_file(string.sub(member, 15)) then
      n = n + 1
    elseif #got < 2 * want and (not suspect or suspects > 0) then
      if suspect then suspects = suspects - 1 end
      got[#got + 1] = member
      got[#got + 1] = popped[j + 1]
    else
      back[#back + 1] = popped[j + 1]
      back[#back + 1] = member
    end
  end
  each('ZADD', queue(slot), back)
  dropped = dropped + n
  local count, rest = had(record)
  if n > 0 and rest == '' then
    redis.call('HSET', pages, slot, count .. ' told')
    told[#told + 1] = slot
  end
  return got, more or #back > 0, shared and n == 0, #back > 0 and n == 0
end

-- jitter is a delay, or up to half as much again. Redis gives each script the same random numbers, so the nonce is the chance in it.
local function jitter(slot, wait)
  return wait + math.floor(wait / 2 * tonumber(string.sub(redis.sha1hex(nonce .. slot), 1, 8), 16) / 4294967295)
end

-- room is for so many requests more: in the whole fleet, and, while others have less than their share, in this worker. Seeds go on without:
-- they take none.
local total, room, share = tonumber(state[17] or ''), 1e9, 1e9
if total then
  local running, all = in_flight()
  if all == 0 then redis.call('HDEL', busy, SEEDS, SHORE) end   -- a worker of an older version ends leases and does not know what has landed
  room = total - running
  share = share_of(total) - tonumber(ARGV[16])
  if crowded() then room = math.min(room, share) end
end

-- ready_slots are slots whose time has come, those due longest first.
local function ready_slots()
  if room > 0 then return redis.call('ZRANGEBYSCORE', slots, '-inf', now, 'LIMIT', 0, math.min(n, room + 16)) end
  local at = tonumber(redis.call('ZSCORE', slots, SEEDS) or '')
  if at and at <= now then return {SEEDS} end
  return {}
end

local expiry, records, count = {}, {}, 0
if budget > 0 then redis.call('HLEN', stats) end
for round = 1, 8 do
  if n <= 0 or dropped >= DROPS then break end
  local ready = ready_slots()
  if #ready == 0 then break end
  local running = redis.call('HMGET', busy, unpack(ready))
  local own, had_pages, slow = redis.call('HMGET', rules, unpack(ready)), {}, slow_of(ready)
  if budget > 0 then had_pages = redis.call('HMGET', pages, unpack(ready)) end
  local again, set, gone = {}, {}, {}
  for i, slot in ipairs(ready) do
    if n <= 0 or room <= 0 and slot ~= SEEDS then break end
    local wait, limit, random = pace_of(slot, own[i], slow[i])
    local b, open = tonumber(running[i] or 0) or 0, 1
    if budget > 0 and slot ~= SEEDS then open = budget - had(had_pages[i]) end
    if open > 0 and budget > 0 then limit = math.min(limit, open) end
    local want = math.min(limit - b, n)
    if slot ~= SEEDS then want = math.min(want, room) end
    if wait > 0 and want > 1 then want = 1 end
    local got, more, shared, held = {}, true, false, false
    if open <= 0 and dropped >= DROPS then
      more = true                                   -- the next lease goes on
    elseif open <= 0 then
      got, more, shared, held = drop(slot, want, had_pages[i])
    elseif want > 0 then
      got, more, shared, held = pop(slot, want)
    end
    local k = #got / 2
    for j = 1, #got, 2 do
      count = count + 1
      local id = nonce .. ':' .. count
      expiry[#expiry + 1] = upto
      expiry[#expiry + 1] = id
      records[#records + 1] = id
      records[#records + 1] = got[j + 1] .. ' ' .. slot .. '\n' .. ARGV[7] .. '\n' .. got[j]
      out[#out + 1] = id
      out[#out + 1] = slot
      out[#out + 1] = got[j]
    end
    if k > 0 then
      set[#set + 1] = slot
      set[#set + 1] = b + k
    end
    if not more and (wait == 0 or k == 0) then
      gone[#gone + 1] = slot                        -- empty, and its time has passed
    else
      local nxt = now
      if k > 0 and random then wait = jitter(slot, wait) end
      if k > 0 then nxt = now + wait end
      if shared and k == 0 then nxt = now + 1000 end
      if held and k == 0 then nxt = now + 50 end
      if b + k >= limit then nxt = nxt + PARK end
      again[#again + 1] = nxt
      again[#again + 1] = slot
    end
    n = n - k
    if slot ~= SEEDS then
      room = room - k
      share = share - k
    end
  end
  if count == 0 then redis.call('ZREM', slots, '@') end  -- a write that is allowed out of memory goes first; '@' is no slot's name
  if #gone > 0 then redis.call('ZREM', slots, unpack(gone)) end
  if #again > 0 then redis.call('ZADD', slots, unpack(again)) end
  if #set > 0 then redis.call('HSET', busy, unpack(set)) end
end
if count > 0 then
  redis.call('ZADD', leases, unpack(expiry))
  redis.call('HSET', inflight, unpack(records))
end
if count + dropped > 0 then
  local left = tonumber(out[5]) - count - dropped
  if left < 0 then                                  -- members that somebody put there by hand
    redis.call('HINCRBY', stats, 'scheduler/enqueued', -left)
    left = 0
  end
  out[5] = tostring(left)
  redis.call('HSET', meta, 'pending', left, 'dequeued', string.format('%.0f', (tonumber(state[4] or 0) or 0) + count))
end
if dropped > 0 then
  local was = redis.call('HMGET', stats, 'scheduler/done', 'closespider_pagecount_per_slot/dropped')
  redis.call('HSET', stats, 'scheduler/done', string.format('%.0f', (tonumber(was[1] or 0) or 0) + dropped),
    'closespider_pagecount_per_slot/dropped', string.format('%.0f', (tonumber(was[2] or 0) or 0) + dropped))
  for _, slot in ipairs(told) do out[4] = out[4] .. '\n' .. slot end
end
if n > 0 then                                       -- nothing more now: say when to ask again
  local soon, keys = now + 1000, {slots, delayed, leases}
  if room <= 0 then                                 -- what is due waits for a lease to end, and only seeds do not
    if share > 0 then crowd() end
    keys = {leases}
    soon = math.min(soon, tonumber(redis.call('ZSCORE', slots, SEEDS) or soon))
  end
  for _, key in ipairs(keys) do
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if first[2] and tonumber(first[2]) < soon then soon = tonumber(first[2]) end
  end
  out[1] = math.max(soon - now, 0)
end
beat()
return out
