-- seed: append seeds to start_urls, whatever its type; a new key becomes a list.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  seed...
-- Returns how many were new.
local kind, n = redis.call('TYPE', start_urls)['ok'], 0
if kind == 'list' or kind == 'none' then
  each('RPUSH', start_urls, ARGV)
  return #ARGV
elseif kind == 'set' then
  for i = 1, #ARGV, 1000 do
    n = n + redis.call('SADD', start_urls, unpack(ARGV, i, math.min(i + 999, #ARGV)))
  end
  return n
elseif kind == 'zset' then
  local lowest, args, known = redis.call('ZRANGE', start_urls, 0, 0, 'WITHSCORES'), {}, {}
  local score = math.min(tonumber(lowest[2] or 0), 0)
  for _, seed in ipairs(ARGV) do
    if not known[seed] then
      known[seed] = true
      score = score - 1
      args[#args + 1] = score
      args[#args + 1] = seed
    end
  end
  for i = 1, #args, 1000 do
    n = n + redis.call('ZADD', start_urls, 'NX', unpack(args, i, math.min(i + 999, #args)))
  end
  return n
end
return redis.error_reply('WRONGTYPE ' .. start_urls .. ' holds a ' .. kind .. ', not a list, set or zset')
