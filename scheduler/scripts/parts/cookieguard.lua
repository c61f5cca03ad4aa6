-- Changes of cookies that depend on what their worker could not know.
--   plain   what came over plain http may not replace, remove or hide a Secure cookie (RFC 6265bis, 5.7). The worker has compared it with the
--           cookies that it knew. Left are those that changed later, those of the same commit, and the cookie in whose place it would come.
--   use     that a cookie was used is not worth what has become of it meanwhile.

-- cookie_parts takes a field apart; nothing for one that is no cookie's.
local function cookie_parts(f)
  local _, _, jar, domain, path, name = string.find(f, '^(.*)\n%.?([^;\n]*);([^;\n]*);([^;\n]*)$')
  if not name then return end
  return {field = f, domain = domain, path = path, same = jar .. '\n' .. name}
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

-- find_rivals gives each plain one of changes its rivals, the fields of cookies that it must not hide if they are Secure, and returns them all; and
-- the fields that have changed after some worker of these changes knew them.
local function find_rivals(changes, last, floor)
  local since, plain, found, moved = nil, {}, {}, {}
  for _, c in ipairs(changes) do
    local parts = c.plain and cookie_parts(c.field)
    if c.known then since = math.min(since or c.known, c.known) end
    if parts then
      c.rivals = {}
      plain[parts.same] = plain[parts.same] or {}
      table.insert(plain[parts.same], {parts = parts, change = c})
    end
  end
  if not since then return found, moved end
  local function compare(f)
    local other = cookie_parts(f)
    for _, p in ipairs(other and plain[other.same] or {}) do
      if f ~= p.parts.field and may_hide(p.parts, other) then
        table.insert(p.change.rivals, f)
        found[#found + 1] = f
      end
    end
  end
  if since > last or since < floor then since = 0 end
  if since < last then
    for _, f in ipairs(redis.call('ZRANGEBYSCORE', cookie_changes, '(' .. string.format('%.0f', since), '+inf')) do
      moved[f] = true
      compare(f)
    end
  end
  for _, c in ipairs(changes) do compare(c.field) end
  return found, moved
end
