-- flush empties the frontier, the filter and the cookie jars. Every lease is void and every worker sees a new epoch.
-- What it throws away is taken off scheduler/enqueued; the counters of now become the baseline of the next crawl.
-- Members of the bare requests key that are not ours stay, and so does a key of another type: scrapy-redis keeps lists there.
local function ours_only()
  for _, range in ipairs({{0, 499}, {-500, -1}}) do
    for _, m in ipairs(redis.call('ZRANGE', requests, range[1], range[2])) do
      if not string.find(m, HEAD) then return false end
    end
  end
  return true
end

local function remove_ours()
  local from = 0
  while true do
    local page, mine = redis.call('ZRANGE', requests, from, from + 999), {}
    if #page == 0 then return end
    for _, m in ipairs(page) do
      if string.find(m, HEAD) then mine[#mine + 1] = m else from = from + 1 end
    end
    each('ZREM', requests, mine)
  end
end

local function baseline(pending)
  local old, base = {}, {}
  for _, f in ipairs(redis.call('HKEYS', meta)) do
    if string.sub(f, 1, 5) == 'base:' then old[#old + 1] = f end
  end
  each('HDEL', meta, old)
  if pending > 0 then redis.call('HINCRBY', stats, 'scheduler/enqueued', -pending) end
  redis.call('HSET', stats, 'scheduler/dequeued', redis.call('HGET', meta, 'dequeued') or '0')
  local all = redis.call('HGETALL', stats)
  for i = 1, #all, 2 do
    base[#base + 1] = 'base:' .. all[i]
    base[#base + 1] = all[i + 1]
  end
  each('HSET', meta, base)
end

-- flush returns the new epoch and how many requests went.
local function flush()
  local thrown = tonumber(redis.call('HGET', meta, 'pending') or 0) + redis.call('ZCARD', leases)
  redis.call('HLEN', stats)
  local queues = {}
  for _, slot in ipairs(redis.call('ZRANGE', slots, 0, -1)) do
    if slot ~= '' then
      queues[#queues + 1] = queue(slot)
    elseif redis.call('TYPE', requests)['ok'] == 'zset' then
      if ours_only() then queues[#queues + 1] = requests else remove_ours() end
    end
  end
  for i = 1, #queues, 1000 do redis.call('UNLINK', unpack(queues, i, math.min(i + 999, #queues))) end
  redis.call('UNLINK', slots, busy, leases, inflight, delayed, dupefilter, pages, holds, throttle, cookies, cookie_changes)
  local change = redis.call('HGET', meta, 'cookies')
  if change then                                    -- whoever has copies of them is to ask for all
    local number = string.format('%.0f', (tonumber(change) or 0) + 1)
    redis.call('HSET', meta, 'cookies', number, 'cookies_floor', number, 'cookies_bytes', 0)
  end
  redis.call('HDEL', meta, 'finished', 'task_added', 'throttled')
  local _, _, run = string.find(redis.call('HGET', meta, 'task:on_finished') or '', '^(%d+)')
  if run then redis.call('HSET', meta, 'task:on_finished', string.format('%.0f', run + 1) .. ' 0 0 -') end
  redis.call('HSET', meta, 'pending', 0)
  baseline(thrown)
  return redis.call('HINCRBY', meta, 'epoch', 1), thrown
end
