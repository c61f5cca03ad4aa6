-- land: the pages of leases are fetched and only wait for their commits: their slots may start others meanwhile. The leases go on.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  id...
-- Returns how many of them have landed now; one that has before, or is no longer leased, changes nothing. None does while there is a budget
-- of pages, which is exact because each lease holds a place until its page is counted (parts/budget.lua).
local budget = redis.call('HMGET', meta, 'kept:closespider_pagecount_per_slot', 'set:closespider_pagecount_per_slot')
if (tonumber(budget[1] or budget[2] or '') or 0) > 0 then return 0 end
local recs = redis.call('HMGET', inflight, unpack(ARGV))
local names, ended, marked, n, seen = {}, {}, {}, 0, {}
for i = 1, #ARGV do
  if recs[i] and not seen[ARGV[i]] then
    seen[ARGV[i]] = true
    local score, slot, worker, member, landed = parse(recs[i])
    if landed == false then                           -- of a record that somebody has spoilt it is nil
      ends(names, ended, slot)
      n = n + 1
      marked[#marked + 1] = ARGV[i]
      marked[#marked + 1] = score .. ' ' .. slot .. '\n' .. LANDED .. worker .. '\n' .. member
    end
  end
end
if n > 0 then
  names[#names + 1] = SHORE
  ended[SHORE] = -n
end
local weighed = weigh(names, ended, {})
each('HSET', inflight, marked)
settle(weighed)
return n
