-- Changes of cookies that depend on what their worker could not know.
--   plain    what came over plain http may not replace, remove or hide a Secure cookie (RFC 6265bis, 5.7). The worker has compared it with the
--            cookies that it knew. Left are those that changed later, those of the same commit, and the cookie in whose place it would come.
--   yields   that a cookie was used, or had to make room, is not worth what has become of it meanwhile.
-- How many plain changes there are, and of which names, a site decides, so all work is bounded. What would take more is refused: its worker reads
-- back what is here, and the next page may set its cookie.
local MOST_MOVED = 5000       -- changes since the plain ones' workers knew the jars
local MOST_COMPARED = 10000   -- pairs of a plain change and a Secure cookie, of a commit

-- cookie_parts takes a field apart; nothing for one that is no cookie's. Cookies with another same are none that could hide each other: it has
-- the jar, the name and the last two labels of the domain.
local function cookie_parts(f)
  local _, _, jar, domain, path, name = string.find(f, '^(.*)\n%.?([^;\n]*);([^;\n]*);([^;\n]*)$')
  if not name then return end
  local _, _, site = string.find(domain, '^.*%.([^.]*%.[^.]*)$')
  return {domain = domain, path = path, same = jar .. '\n' .. (site or domain) .. ';' .. name}
end

-- is_secure is for the text of a cookie, in whose strings quotes are escaped; one that is over is none.
local function is_secure(text)
  if not text or not string.find(text, '"sec":true', 1, true) then return false end
  local _, _, ends = string.find(text, '"e":(%d+)')
  return not ends or tonumber(ends) > now * 1000
end

local function lies_below(domain, parent)
  return domain == parent or string.sub(domain, -#parent - 1) == '.' .. parent
end

-- may_hide reports whether a page could be asked with both, or with plain in the place of other.
local function may_hide(plain, other)
  if not lies_below(plain.domain, other.domain) and not lies_below(other.domain, plain.domain) then return false end
  local n = #other.path
  if string.sub(plain.path, 1, n) ~= other.path then return false end
  return #plain.path == n or string.sub(other.path, -1) == '/' or string.sub(plain.path, n + 1, n + 1) == '/'
end

-- horizon is from which change on all is known that a worker knew which knew the jars up to known: 0 is nothing.
local function horizon(known, last, floor)
  if not known or known > last or known < floor then return 0 end
  return known
end

-- find_moved notes of each yielding change whether somebody has changed its cookie since.
local function find_moved(changes, last, floor)
  local list, fields = {}, {}
  for _, c in ipairs(changes) do
    if c.yields then
      list[#list + 1] = c
      fields[#fields + 1] = c.field
    end
  end
  for i = 1, #fields, 1000 do
    local j = math.min(i + 999, #fields)
    for k, score in ipairs(redis.call('ZMSCORE', cookie_changes, unpack(fields, i, j))) do
      local c = list[i + k - 1]
      c.moved = score and tonumber(score) > horizon(c.known, last, floor)
    end
  end
end

-- find_plain gives, as keys, same of the plain changes that could hide a cookie, and how far back their workers have to look.
local function find_plain(changes, last, floor)
  local names, since = {}, last
  for _, c in ipairs(changes) do
    c.parts = c.plain and not c.yields and cookie_parts(c.field)
    if c.parts then
      names[c.parts.same] = true
      since = math.min(since, horizon(c.known, last, floor))
    end
  end
  return names, since
end

-- find_rivals gives the fields that plain changes must not hide if they are Secure, of those that have changed after a worker of these changes
-- knew them; a plain change whose worker knew too little is blind.
local function find_rivals(changes, last, floor)
  local found = {}
  local names, since = find_plain(changes, last, floor)
  if since >= last then return found end
  local got = redis.call('ZREVRANGEBYSCORE', cookie_changes, '+inf', '(' .. string.format('%.0f', since), 'WITHSCORES', 'LIMIT', 0, MOST_MOVED + 1)
  local count = math.min(#got / 2, MOST_MOVED)
  for i = 1, count do
    local parts = cookie_parts(got[2 * i - 1])
    if parts and names[parts.same] then found[#found + 1] = got[2 * i - 1] end
  end
  if #got / 2 > MOST_MOVED then
    local unread = tonumber(got[#got])
    for _, c in ipairs(changes) do
      c.blind = c.plain and not c.yields and horizon(c.known, last, floor) < unread
    end
  end
  return found
end

-- secure_rivals gives, by same, what of fields and of the changed cookies is Secure or becomes so.
local function secure_rivals(changes, fields, was)
  local rivals, seen = {}, {}
  local function note(f)
    local parts = not seen[f] and cookie_parts(f)
    seen[f] = true
    if not parts then return end
    rivals[parts.same] = rivals[parts.same] or {}
    table.insert(rivals[parts.same], {field = f, parts = parts})
  end
  for _, f in ipairs(fields) do
    if is_secure(was[f]) then note(f) end
  end
  for _, c in ipairs(changes) do
    if is_secure(c.value) or is_secure(was[c.field]) then note(c.field) end
  end
  return rivals
end

-- new_guard gives what says whether a change is refused, when all before it are in values.
local function new_guard(changes, fields, was, values)
  local rivals, compared = nil, 0
  return function(c)
    if not c.plain then return false end
    if c.blind or is_secure(values[c.field] or was[c.field]) then return true end
    if not c.parts then return false end
    if not rivals then rivals = secure_rivals(changes, fields, was) end
    for _, other in ipairs(rivals[c.parts.same] or {}) do
      compared = compared + 1
      if compared > MOST_COMPARED then return true end
      if other.field ~= c.field and may_hide(c.parts, other.parts) and is_secure(values[other.field] or was[other.field]) then return true end
    end
    return false
  end
end
