-- cookies: what has changed in the jars since a change that the worker knows.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  number of that change (0: none), most
-- Returns {number of the last change that is told, all (1: what the worker has had is void), more (1: ask again), (field value)...}; value '' for
-- one that was deleted.
local state = redis.call('HMGET', meta, 'cookies', 'cookies_floor', 'cookies_until')
local since, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local last, all = tonumber(state[1] or 0) or 0, 0
if since > last or since < (tonumber(state[2] or 0) or 0) then since = 0 end
if now > (tonumber(state[3] or 0) or 0) then return {string.format('%.0f', last), 1, 0} end  -- they have expired
if since == 0 then all = 1 end
local got = redis.call('ZRANGEBYSCORE', cookie_changes, '(' .. string.format('%.0f', since), '+inf', 'WITHSCORES', 'LIMIT', 0, most)
local fields, more = {}, 0
for i = 1, #got, 2 do fields[#fields + 1] = got[i] end
if #fields == most then
  last = tonumber(got[#got])
  more = 1
end
local out = {string.format('%.0f', last), all, more}
if #fields > 0 then
  for i, value in ipairs(redis.call('HMGET', cookies, unpack(fields))) do
    out[#out + 1] = fields[i]
    out[#out + 1] = value or ''
  end
end
return out
