-- giveback ends leases without an outcome: their requests return to their own places with grow more
-- attempts, or to dead once they have had max. The leases go FIRST: out of memory, a script that has
-- written once may go on writing.
local function giveback(ids, grow, max)
  local recs = redis.call('HMGET', inflight, unpack(ids))
  redis.call('LLEN', dead)
  redis.call('HLEN', stats)
  redis.call('HLEN', meta)
  local names, ended, order, byslot, letters, back, seen = {}, {}, {}, {}, {}, 0, {}
  for i = 1, #ids do
    if recs[i] and not seen[ids[i]] then
      seen[ids[i]] = true
      local score, slot, worker, member, landed = parse(recs[i])
      ends(names, ended, slot, landed)
      local n = tonumber(string.sub(member, 13, 14), 16) + grow
      if n >= max then
        letters[#letters + 1] = letter('lease_attempts', 'its lease ended ' .. n .. ' times without an outcome', slot, worker, n, string.sub(member, 15))
      else
        enlist(order, byslot, slot, score, string.sub(member, 1, 12) .. string.format('%02x', n) .. string.sub(member, 15))
        back = back + 1
      end
    end
  end
  local weighed = weigh(names, ended, {})
  redis.call('ZREM', leases, unpack(ids))
  redis.call('HDEL', inflight, unpack(ids))
  for _, lost in ipairs(push(order, byslot)) do
    back = back - 1
    letters[#letters + 1] = letter('wrong_type', lost[3], lost[1], '', 0, string.sub(lost[2], 15))
  end
  each('RPUSH', dead, letters)
  settle(weighed)
  if #letters > 0 then redis.call('HINCRBY', stats, 'scheduler/dead', #letters) end
  if back > 0 then redis.call('HINCRBY', meta, 'pending', back) end
end
