-- Dead letters are named by their place in a page of the list and by their SHA1: the list may have moved since it was read.

-- standing tells which of them are still there: by the index of their first argument.
--   from: where the page begins      first, step: arguments of the first letter, and how many each has
local function standing(from, first, step)
  local last, there = 0, {}
  for k = first, #ARGV, step do last = math.max(last, tonumber(ARGV[k])) end
  local page = redis.call('LRANGE', dead, from, from + last)
  for k = first, #ARGV, step do
    local raw = page[tonumber(ARGV[k]) + 1]
    if raw and redis.sha1hex(raw) == ARGV[k + 1] then there[k] = true end
  end
  return there
end

-- strike takes letters out: marked by place and removed in one pass, since removing one alone reads the list up to it.
local function strike(from, places)
  if #places == 0 then return end
  redis.call('LTRIM', dead, 0, -1)   -- changes nothing; out of memory a first LSET is refused, a second write is not
  for _, place in ipairs(places) do redis.call('LSET', dead, from + place, 'luacrawl:struck') end
  redis.call('LREM', dead, 0, 'luacrawl:struck')
end
