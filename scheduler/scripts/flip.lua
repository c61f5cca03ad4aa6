-- flip: change what the fleet runs of a spider, if nobody else has changed it since.
--
-- KEYS  all (parts/keys.lua), then the registry's (parts/registry.lua)
-- ARGV  spider, version that the entry must have (0: none, or none that can be read), entry as JSON ('': remove it), event as JSON, channel
-- Returns {'OK', version}
--      or {'CONFLICT', the entry as it is, with its version; '' for none}
--      or {'MISSING'}      the revision is not in Redis
local was = redis.call('HGET', registry, ARGV[1]) or ''
local have = string.match(was, '^([1-9]%d*) ') or '0'
if #have > 18 then have = '0' end
redis.call('LLEN', log)
redis.call('HLEN', states)
local state = redis.call('HGET', meta, 'state') or 'running'
if have ~= ARGV[2] then return {'CONFLICT', was} end
if ARGV[3] == '' then
  local v = changed(ARGV[1], ARGV[4], ARGV[5])
  redis.call('HDEL', registry, ARGV[1])
  redis.call('HDEL', states, ARGV[1])
  return {'OK', v}
end
if redis.call('EXISTS', revision) == 0 then return {'MISSING'} end
local v = changed(ARGV[1], ARGV[4], ARGV[5])
redis.call('HSET', registry, ARGV[1], v .. ' ' .. ARGV[3])
redis.call('HSETNX', states, ARGV[1], state)
return {'OK', v}
