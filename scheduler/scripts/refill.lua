-- refill: move seeds from start_urls (list from its head, set, zset highest first) to the slot @seeds, whence they are leased.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  n, max_pending
-- Returns how many were moved: none while paused, draining or stopped, or with max_pending requests pending.
local state = redis.call('HMGET', meta, 'pending', 'seq', 'paused', 'finished', 'state')
local pending, seq = tonumber(state[1] or 0), tonumber(state[2] or 0)
local n = math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - pending)
if n < 1 or state[3] == '1' or state[5] == 'draining' or state[5] == 'stopped' then return 0 end
local kind = redis.call('TYPE', start_urls)['ok']
if kind == 'none' then return 0 end
if kind ~= 'list' and kind ~= 'set' and kind ~= 'zset' then
  return redis.error_reply('WRONGTYPE ' .. start_urls .. ' holds a ' .. kind .. ', not a list, set or zset')
end
redis.call('ZCARD', queue(SEEDS))
redis.call('ZCARD', slots)
redis.call('HLEN', stats)
local seeds, args = {}, {}
if kind == 'list' then
  seeds = redis.call('LPOP', start_urls, n)
elseif kind == 'set' then
  seeds = redis.call('SPOP', start_urls, n)
else
  local got = redis.call('ZPOPMAX', start_urls, n)
  for i = 1, #got, 2 do seeds[#seeds + 1] = got[i] end
end
for _, seed in ipairs(seeds) do
  seq = seq + 1
  args[#args + 1] = 0
  args[#args + 1] = string.format('%012x00', seq) .. seed
end
each('ZADD', queue(SEEDS), args)
redis.call('ZADD', slots, 'NX', now, SEEDS)
redis.call('HSET', meta, 'pending', pending + #seeds, 'seq', string.format('%.0f', seq))
redis.call('HINCRBY', stats, 'scheduler/enqueued', #seeds)
if state[4] then redis.call('HDEL', meta, 'finished') end
return #seeds
