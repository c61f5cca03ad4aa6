-- join: a worker enters the crawl. Flush, check of settings and registration are one step, so that no two workers
-- can each believe that they are the first.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  worker, heartbeat ms, flush (1 or 0), TYPE that items must have ('' : any), then (setting, value, layout)...
--       layout 1: work that is queued under another value would be lost or out of order
-- Returns {'OK', epoch, scheduled, requests that a flush threw away (-1: there was no crawl to flush)}
--      or {'ALIVE', worker, ms until it counts as gone}          flush refused
--      or {'ITEMS', TYPE that they have, how many, the fleet's key of items or ''}
--      or {'DIFFERS', setting, the fleet's value, worker or ''}        '' : nobody is alive, but there is queued work
local was_there, thrown = redis.call('HLEN', meta) > 0, -1
redis.call('ZREMRANGEBYSCORE', workers, '-inf', now - 3600000)
local other, left_ms = '', 0
local alive = redis.call('ZRANGEBYSCORE', workers, '(' .. now, '+inf', 'WITHSCORES')
for i = 1, #alive, 2 do
  if alive[i] ~= ARGV[1] then
    other = alive[i]
    left_ms = tonumber(alive[i + 1]) - now
  end
end
local kind, length, misfit = redis.call('TYPE', items).ok, {list = 'LLEN', stream = 'XLEN'}, nil
if ARGV[4] ~= '' and kind ~= 'none' and kind ~= ARGV[4] then
  misfit = {'ITEMS', kind, 0, redis.call('HGET', meta, 'set:items_key') or ''}
  if length[kind] then misfit[3] = redis.call(length[kind], items) end
end
if misfit and other == '' then return misfit end    -- else it is rather a setting that differs
if ARGV[3] == '1' then
  if other ~= '' then return {'ALIVE', other, left_ms} end
  local mine, old = {requests, dupefilter}, redis.call('HMGET', meta, 'set:requests_key', 'set:dupefilter_key')
  if old[1] then requests = old[1] end              -- a renamed key: what lies under the old name goes
  if old[2] then dupefilter = old[2] end
  local _, requests_gone = flush()
  requests = mine[1]
  dupefilter = mine[2]
  if was_there then thrown = requests_gone end
end
local scheduled = tonumber(redis.call('HGET', meta, 'pending') or 0) + redis.call('ZCARD', leases)
local set, write_rules = {'no_items', ARGV[4] == '' and '1' or '0'}, file_rules('', '')
for i = 5, #ARGV, 3 do
  local was = redis.call('HGET', meta, 'set:' .. ARGV[i])
  if was and was ~= ARGV[i + 1] then
    if other ~= '' then return {'DIFFERS', ARGV[i], was, other} end
    if ARGV[i + 2] == '1' and scheduled > 0 then return {'DIFFERS', ARGV[i], was, ''} end
  end
  if ARGV[i] == 'download_slots' then write_rules = file_rules(was or '', ARGV[i + 1]) end
  set[#set + 1] = 'set:' .. ARGV[i]
  set[#set + 1] = ARGV[i + 1]
end
if misfit then return misfit end
each('HSET', meta, set)
settle_total()
write_rules()
redis.call('ZADD', workers, now + tonumber(ARGV[2]), ARGV[1])
-- what is left of processes that have been gone for an hour: a gap in a number only makes a process start again as a new one
local stale = {}
for _, process in ipairs(redis.call('HKEYS', commits)) do
  local worker = string.gsub(process, '%.%d+$', '')
  if not redis.call('ZSCORE', workers, worker) then stale[#stale + 1] = process end
end
each('HDEL', commits, stale)
return {'OK', redis.call('HGET', meta, 'epoch') or '0', scheduled, thrown}
