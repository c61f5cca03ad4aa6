-- slots: a bounded look at the slots of a crawl, by what they wait for. It costs the same however much is pending.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  how many slots of each kind at most
-- Returns {now, due, waiting, full, {live delay ms, live concurrency, the fleet's delay, the fleet's concurrency; '' for none},
--          {slot, kind (1 due, 2 waiting, 3 full), next start ms, leases, '<delay ms> <concurrency>' or '', queued (-1: another type) ...}}
--   due, waiting, full: how many slots there are of the kind: their time has come, it has not, they are at their concurrency.
local parked = '(' .. string.format('%.0f', PARK - 1)
local ranges = {{'-inf', now}, {'(' .. now, string.format('%.0f', PARK - 1)}, {parked, '+inf'}}
local counts, list = {}, {}
for i, range in ipairs(ranges) do
  counts[i] = redis.call('ZCOUNT', slots, range[1], range[2])
  if counts[i] > 0 then
    local found = redis.call('ZRANGEBYSCORE', slots, range[1], range[2], 'WITHSCORES', 'LIMIT', 0, ARGV[1])
    local names = {}
    for k = 1, #found, 2 do names[#names + 1] = found[k] end
    local held, rule = redis.call('HMGET', busy, unpack(names)), redis.call('HMGET', rules, unpack(names))
    for k, slot in ipairs(names) do
      local start = tonumber(found[2 * k])
      if i == 3 then start = start - PARK end
      local queued = redis.pcall('ZCARD', queue(slot))
      if type(queued) ~= 'number' then queued = -1 end
      list[#list + 1] = slot
      list[#list + 1] = tostring(i)
      list[#list + 1] = string.format('%.0f', start)
      list[#list + 1] = held[k] or '0'
      list[#list + 1] = rule[k] or ''
      list[#list + 1] = tostring(queued)
    end
  end
end
local set = redis.call('HMGET', meta, 'kept:download_delay', 'kept:concurrent_requests_per_domain', 'set:download_delay', 'set:concurrent_requests_per_domain')
for k = 1, 4 do set[k] = set[k] or '' end
return {now, counts[1], counts[2], counts[3], set, list}
