-- push adds members to queues, one ZADD a slot, and wakes the slots.
--   order: slots, each once      byslot: slot -> {score, member, score, member ...}
-- A queue of another type does not stop it half way: those members are returned as {slot, member, error}.
local function push(order, byslot)
  local refused, wake = {}, {}
  for _, slot in ipairs(order) do
    local q, ok = byslot[slot], true
    for i = 1, #q, 1000 do
      local last = math.min(i + 999, #q)
      local r = redis.pcall('ZADD', queue(slot), unpack(q, i, last))
      if type(r) == 'table' then
        ok = false
        for k = i + 1, last, 2 do refused[#refused + 1] = {slot, q[k], r.err} end
      end
    end
    if ok then
      wake[#wake + 1] = now
      wake[#wake + 1] = slot
    end
  end
  for i = 1, #wake, 1000 do
    redis.call('ZADD', slots, 'NX', unpack(wake, i, math.min(i + 999, #wake)))
  end
  return refused
end

-- enlist notes one member for push.
local function enlist(order, byslot, slot, score, member)
  local q = byslot[slot]
  if not q then
    q = {}
    byslot[slot] = q
    order[#order + 1] = slot
  end
  q[#q + 1] = score
  q[#q + 1] = member
end
