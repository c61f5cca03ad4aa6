-- task: claim a task of the spider that is due, give a claim back, or end the task.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  'claim', nonce, claim ms, (task, period ms; 0: due when the crawl is announced as finished)...
--       'return', nonce, task
--       'end', nonce, task, period ms, added (1: it has added requests to the frontier)
-- A task is the field task:<name> of meta: "<run> <due ms; 0: not> <claimed until ms> <nonce>". The same nonce again gets the same claim.
-- Nothing is claimed while the spider is paused or stopped; while it is drained only what a finished crawl has due.
-- Returns for a claim {task or '', run, ms until one may be due}; else 1, or 0 when the claim is no longer the caller's.
local function read(name)
  local _, _, run, due, till, nonce = string.find(redis.call('HGET', meta, 'task:' .. name) or '', '^(%d+) (%d+) (%d+) (%S+)$')
  return tonumber(run or 0), tonumber(due or 0), tonumber(till or 0), nonce or '-'
end

local function write(name, run, due, till, nonce)
  redis.call('HSET', meta, 'task:' .. name, string.format('%.0f %.0f %.0f %s', run, due, till, nonce))
end

if ARGV[1] ~= 'claim' then
  local name = ARGV[3]
  local run, due, till, nonce = read(name)
  if nonce ~= ARGV[2] then return 0 end
  if ARGV[1] == 'return' then
    write(name, run, due, 0, '-')
    return 1
  end
  local period, after = tonumber(ARGV[4]), 0
  if period > 0 then after = math.max(due + period, now + math.floor(period / 2)) end
  write(name, run + 1, after, 0, '-')
  if period == 0 and ARGV[5] == '1' then redis.call('HSET', meta, 'task_added', 1) end
  return 1
end

local state = redis.call('HMGET', meta, 'paused', 'state')
local wait = 60000
if state[1] == '1' or state[2] == 'stopped' then return {'', 0, wait} end
for i = 4, #ARGV, 2 do
  local name, period = ARGV[i], tonumber(ARGV[i + 1])
  local run, due, till, nonce = read(name)
  if period > 0 and (due == 0 or due > now + period) then
    due = now + period
    write(name, run, due, till, nonce)
  end
  if nonce == ARGV[2] then return {name, run, 0} end
  if due > 0 and (period == 0 or state[2] ~= 'draining') then
    local free = math.max(due, till)
    if free <= now then
      write(name, run, due, now + tonumber(ARGV[3]), ARGV[2])
      return {name, run, 0}
    end
    if period > 0 then free = math.min(free, math.max(due, now) + period) end  -- whoever has it will be done before
    wait = math.min(wait, free - now)
  end
end
return {'', 0, wait}
