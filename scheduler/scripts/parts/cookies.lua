-- What commits change in the cookie jars. meta has, beside the two keys,
--   cookies         number of the last change: workers ask for what came after the one that they know
--   cookies_bytes   how much the fields of cookies hold
--   cookies_floor   changes up to this one may be forgotten: who knows fewer asks for all
--   cookies_until   ms: after it all of them have expired. A time to live of the keys would let a full Redis throw one of them away.
-- Beyond these limits the cookies whose last change is the longest ago go; a worker notes the use of one as a change, once an hour.
local COOKIES, COOKIE_BYTES = 100000, 67108864
local COOKIE_TTL = 2592000000   -- ms after the last change of all

-- make_room chooses the cookies that go, in w; values has those that are changed now, which stay.
local function make_room(w, values, count)
  local at = 0
  while count > COOKIES or w.bytes > COOKIE_BYTES do
    local old, fields = redis.call('ZRANGE', cookie_changes, at, at + 199, 'WITHSCORES'), {}
    if #old == 0 then return end
    for i = 1, #old, 2 do fields[#fields + 1] = old[i] end
    local was = redis.call('HMGET', cookies, unpack(fields))
    for i, f in ipairs(fields) do
      if count <= COOKIES and w.bytes <= COOKIE_BYTES then return end
      if not values[f] then
        if was[i] then w.bytes = w.bytes - #f - #was[i] end
        w.floor = old[2 * i]
        w.forgotten[#w.forgotten + 1] = f
        count = count - 1
      end
    end
    at = at + 200
  end
end

-- read_cookies adds to was what there is of fields.
local function read_cookies(was, fields)
  for i = 1, #fields, 1000 do
    local j = math.min(i + 999, #fields)
    local got = redis.call('HMGET', cookies, unpack(fields, i, j))
    for k = i, j do was[fields[k]] = got[k - i + 1] or nil end
  end
end

-- given_cookies reads ARGV behind from, of outcomes whose flag is '1'.
local function given_cookies(from, flags)
  local changes, fields = {}, {}
  for k = from + 1, #ARGV, 4 do
    if flags[tonumber(ARGV[k])] == '1' then
      local _, _, kind, known = string.find(ARGV[k + 3], '^([%l ]+) (%-?%d+)$')
      changes[#changes + 1] = {field = ARGV[k + 1], value = ARGV[k + 2], known = known and tonumber(known),
        plain = kind == 'plain' or kind == 'plain yields', yields = kind == 'yields' or kind == 'plain yields'}
      fields[#fields + 1] = ARGV[k + 1]
    end
  end
  return changes, fields
end

-- merge_cookies takes changes in their order; rivals are the fields of cookies that plain ones may hide. It gives the fields that are to be
-- written, what they become and how many plain changes were refused. A cookie that is here as it is given is no change: a page tells of all that
-- its site has set, since what its worker knows may be old. Of two in one commit the later stays. Of that, and of what is refused, every worker is
-- told; also of a removal that yields to another change of its commit, which its worker has carried out.
local function merge_cookies(changes, rivals, was)
  local fields, values, given, turned, refused = {}, {}, {}, {}, 0
  local refuses = new_guard(changes, rivals, was, values)
  local function take(c)
    local f = c.field
    local before = values[f] or was[f] or ''
    if values[f] == nil then given[#given + 1] = f end
    if refuses(c) then
      refused = refused + 1
      turned[f] = true
      values[f] = before
    else
      turned[f] = turned[f] or values[f] and values[f] ~= c.value
      values[f] = c.value
    end
  end
  for _, c in ipairs(changes) do
    if not c.yields or not c.moved and was[c.field] and values[c.field] == nil then
      take(c)
    elseif values[c.field] and c.value == '' then
      turned[c.field] = true
    end
  end
  for _, f in ipairs(given) do
    if turned[f] or (was[f] or '') ~= values[f] then fields[#fields + 1] = f end
  end
  return fields, values, refused
end

-- weigh_cookies gives what write_cookies writes of the changes that given_cookies reads; nothing for no change.
local function weigh_cookies(from, flags)
  local changes, told = given_cookies(from, flags)
  if #changes == 0 then return end
  local state = redis.call('HMGET', meta, 'cookies', 'cookies_bytes', 'cookies_floor', 'cookies_until')
  local expired, was, last = now > (tonumber(state[4] or 0) or 0), {}, tonumber(state[1] or 0) or 0      -- or there are none yet
  local rivals
  if expired then
    rivals = find_rivals(changes, 0, 0)
    redis.call('HLEN', cookies)
  else
    find_moved(changes, last, tonumber(state[3] or 0) or 0)
    rivals = find_rivals(changes, last, tonumber(state[3] or 0) or 0)
    read_cookies(was, rivals)
    read_cookies(was, told)
  end
  local fields, values, refused = merge_cookies(changes, rivals, was)
  if #fields == 0 then return end
  local count = redis.call('ZCARD', cookie_changes)
  local w = {expired = expired, number = last, bytes = tonumber(state[2] or 0) or 0, floor = state[3] or '0', changes = {}, set = {}, gone = {}, forgotten = {}, refused = refused}
  if expired then
    if state[1] then w.number = w.number + 1 end    -- so that everybody asks for all
    w.floor = string.format('%.0f', w.number)
    count = 0
  end
  if count == 0 then w.bytes = 0 end
  for i = 1, #fields, 1000 do
    local j = math.min(i + 999, #fields)
    local known = redis.call('ZMSCORE', cookie_changes, unpack(fields, i, j))
    if expired then known = {} end
    for k = i, j do
      local f, old = fields[k], was[fields[k]]
      w.number = w.number + 1
      w.changes[#w.changes + 1] = string.format('%.0f', w.number)
      w.changes[#w.changes + 1] = f
      if old then w.bytes = w.bytes - #f - #old end
      if not known[k - i + 1] then count = count + 1 end
      if values[f] == '' then
        w.gone[#w.gone + 1] = f
      else
        w.bytes = w.bytes + #f + #values[f]
        w.set[#w.set + 1] = f
        w.set[#w.set + 1] = values[f]
      end
    end
  end
  if not expired then make_room(w, values, count) end
  return w
end

local function write_cookies(w)
  if w.expired then redis.call('UNLINK', cookies, cookie_changes) end
  each('ZADD', cookie_changes, w.changes)
  each('HSET', cookies, w.set)
  each('HDEL', cookies, w.gone)
  each('HDEL', cookies, w.forgotten)
  each('ZREM', cookie_changes, w.forgotten)
  redis.call('HSET', meta, 'cookies', string.format('%.0f', w.number), 'cookies_bytes', string.format('%.0f', math.max(w.bytes, 0)), 'cookies_floor', w.floor,
    'cookies_until', string.format('%.0f', now + COOKIE_TTL))
end
