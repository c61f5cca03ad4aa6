-- What hosts' robots.txt say comes after the keys of the crawl.
--
--   robots   "<origin> <crawler>" -> "<kind> <until ms> <redirects> <lease>\n<text>"
--            kind P: text is the policy, good until then
--                 H: text is the URL that so many redirects have led to; whoever comes next goes on there
--                 C: the same, and the holder of the lease is asking; when the lease ends, so does the claim
--            the same with a line feed behind it -> the first line of that record: what is over is found by it, without reading policies,
--            which may have hundreds of kilobytes
local robots = KEYS[21]
local CLAIM = 3600000   -- ms for which the redirects of a claim are worth going on with

-- robots_read reads a record: kind, until, redirects, lease, text. None, and what somebody has spoilt, is an H at its beginning.
local function robots_read(rec)
  local line = string.find(rec, '\n', 1, true)
  if line then
    local _, _, kind, upto, hops, lease = string.find(string.sub(rec, 1, line - 1), '^([PHC]) (%d+) (%d+) (%S+)$')
    if kind then return kind, tonumber(upto), tonumber(hops), lease, string.sub(rec, line + 1) end
  end
  return 'H', 0, 0, '-', ''
end

local function robots_record(field)
  return robots_read(redis.call('HGET', robots, field) or '')
end

-- robots_over finds records of other hosts that are over, among a few. A claim whose lease is held is not. A record that an older version has
-- written is read as a whole.
local function robots_over(field)
  local over = {}
  for _, some in ipairs(redis.call('HRANDFIELD', robots, 4)) do
    local site = string.match(some, '^[^\n]*')
    local kind, upto, _, lease = robots_read(redis.call('HGET', robots, site .. '\n') or redis.call('HGET', robots, site) or '')
    if site ~= field and upto <= now and (kind ~= 'C' or redis.call('HEXISTS', inflight, lease) == 0) then
      over[#over + 1] = site
      over[#over + 1] = site .. '\n'
    end
  end
  return over
end

-- robots_write writes a record. Each looks at some others, so that those of sites which nobody visits any more do not gather: at most about
-- a third more than the fresh ones stay.
local function robots_write(field, kind, upto, hops, lease, text)
  local over = robots_over(field)
  local head = kind .. ' ' .. string.format('%.0f', upto) .. ' ' .. hops .. ' ' .. lease .. '\n'
  redis.call('HSET', robots, field, head .. text, field .. '\n', head)
  each('HDEL', robots, over)
end
