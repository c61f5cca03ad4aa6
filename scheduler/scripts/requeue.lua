-- requeue: put dead requests and seeds back into their queues and take their letters out, in one step.
-- They are recorded in the filter and not checked against it. Each counts as pending and no longer as dead; one that died
-- before the last flush, whose counters are gone, counts as enqueued now.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  from (where a page of the list begins), lifo (1 or 0), then for each letter, in the order of the list:
--         place in the page, sha1, fingerprint (40 hex; '' for a seed), slot, score, json or seed
-- Returns a flag for each letter: '1' put back, '0' it was no longer there, 'x' its queue holds another type and it stays.
local from, lifo = tonumber(ARGV[1]), ARGV[2] == '1'
local there = standing(from, 3, 6)
local state = redis.call('HMGET', meta, 'seq', 'pending', 'base:scheduler/dead')
local count = redis.call('HMGET', stats, 'scheduler/dead', 'scheduler/enqueued')
redis.call('SCARD', dupefilter)
redis.call('ZCARD', slots)

local seq, order, byslot, record, owner = tonumber(state[1] or 0), {}, {}, {}, {}
for k = 3, #ARGV, 6 do
  if there[k] then
    seq = seq + 1
    local place = seq
    if lifo then place = 281474976710655 - seq end
    local member = string.format('%012x', place) .. '00' .. ARGV[k + 5]
    enlist(order, byslot, ARGV[k + 3], ARGV[k + 4], member)
    owner[member] = k
    if ARGV[k + 2] ~= '' then record[#record + 1] = ARGV[k + 2] end
  end
end

redis.call('HSET', meta, 'seq', string.format('%.0f', seq))   -- out of memory it is this that is refused
each('SADD', dupefilter, record)
for _, lost in ipairs(push(order, byslot)) do there[owner[lost[2]]] = 'stays' end

local flags, struck = {}, {}
for k = 3, #ARGV, 6 do
  local f = '0'
  if there[k] == 'stays' then
    f = 'x'
  elseif there[k] then
    f = '1'
    struck[#struck + 1] = tonumber(ARGV[k])
  end
  flags[#flags + 1] = f
end
strike(from, struck)
if #struck > 0 then
  local died = tonumber(count[1] or 0) or 0
  local back = math.max(0, math.min(#struck, died - (tonumber(state[3] or 0) or 0)))
  local enqueued = (tonumber(count[2] or 0) or 0) + #struck - back
  redis.call('HSET', meta, 'pending', tonumber(state[2] or 0) + #struck)
  redis.call('HDEL', meta, 'finished')
  redis.call('HSET', stats, 'scheduler/dead', string.format('%.0f', died - back), 'scheduler/enqueued', string.format('%.0f', enqueued))
end
return table.concat(flags)
