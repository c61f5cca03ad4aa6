-- finish: announce that the crawl is finished, if it is.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  task: what is due then (task.lua), '' for nothing
-- The requests that the task itself has added make another end, but not another task.
-- Returns 1 for the one caller who may announce it, else 0.
local pending, held, seeds = left()
if redis.call('HGET', meta, 'state') == 'draining' then seeds = 0 end  -- a crawl that drains takes none
if pending + held + seeds > 0 then return 0 end
local first = redis.call('HSETNX', meta, 'finished', now)
if first == 1 and ARGV[1] ~= '' and redis.call('HDEL', meta, 'task_added') == 0 then
  local field = 'task:' .. ARGV[1]
  local _, _, run, due = string.find(redis.call('HGET', meta, field) or '0 0', '^(%d+) (%d+)')
  if due == '0' then redis.call('HSET', meta, field, run .. ' ' .. string.format('%.0f', now) .. ' 0 -') end
end
return first
