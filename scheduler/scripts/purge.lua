-- purge: one bounded step of taking requests of some revisions out of the queues. Each becomes a dead letter, so that the counts balance
-- and it can be put back. A list is walked from its end by how many members there stay: workers take from its other end meanwhile.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  dry (1: only count), members to look at, why, unknown (1: also those of revisions that are not named),
--       stay (members at the end of the first list that have been looked at and stay), number of revisions that go, they,
--       number of revisions that stay, they, then what to walk: '' for the delayed ones, or '=' and a slot...
-- Returns {how many of the lists are finished, stay in the next, unknown that stay, {revision, how many went ...}}
local dry, limit, why, unknown, stay = ARGV[1] == '1', tonumber(ARGV[2]), ARGV[3], ARGV[4] == '1', tonumber(ARGV[5])
local verdict, at = {}, 6
for _, goes in ipairs({true, false}) do
  for k = at + 1, at + tonumber(ARGV[at]) do verdict[ARGV[k]] = goes end
  at = at + tonumber(ARGV[at]) + 1
end
redis.call('LLEN', dead)
redis.call('HLEN', stats)
redis.call('HLEN', meta)

-- body is the request of a member; nil when it is none of ours
local function body(list, member)
  if not string.find(member, HEAD) then return nil end
  if list ~= '' then return string.sub(member, 15) end
  local a = string.find(member, '\n', 1, true)
  if a then return string.sub(member, a + 1) end
  return nil
end

local function revision(json)
  local ok, r = pcall(cjson.decode, json)
  if not ok or type(r) ~= 'table' or type(r.state) ~= 'table' or type(r.state.revision) ~= 'string' then return '' end
  return r.state.revision
end

local finished, strange, went, order, bytes = 0, 0, {}, {}, 0

-- take moves members of a list to the dead letters. Out of memory it is the first write that is refused.
local function take(key, gone, letters)
  if #gone == 0 or dry then return end
  redis.call('RPUSH', dead, unpack(letters))
  redis.call('ZREM', key, unpack(gone))
  redis.call('HINCRBY', stats, 'scheduler/dead', #gone)
  redis.call('HINCRBY', meta, 'pending', -#gone)
end

-- page looks at the next members of a list and reports whether there were any
local function page(list, key)
  local found = redis.pcall('ZREVRANGE', key, stay, stay + 49)
  if found.err or #found == 0 then return false end
  local gone, letters = {}, {}
  for _, member in ipairs(found) do
    bytes = bytes + #member
    local json = body(list, member)
    local rev = ''
    if json then rev = revision(json) end
    local goes = verdict[rev]
    if json and goes == nil then
      goes = unknown
      if not unknown then strange = strange + 1 end
    end
    if goes and json then
      if not went[rev] then
        went[rev] = 0
        order[#order + 1] = rev
      end
      went[rev] = went[rev] + 1
      gone[#gone + 1] = member
      if not dry then letters[#letters + 1] = letter('purged', why, '', '', tonumber(string.sub(member, 13, 14), 16), json) end
    end
  end
  take(key, gone, letters)
  stay = stay + #found
  if not dry then stay = stay - #gone end
  limit = limit - #found
  return true
end

for k = at, #ARGV do
  local list, key = ARGV[k], delayed
  if list ~= '' then key = queue(string.sub(list, 2)) end
  local more = true
  while more and limit > 0 and bytes < 1000000 do more = page(list, key) end
  if more then break end
  finished = finished + 1
  stay = 0
  limit = limit - 1
end
local counts = {}
for _, rev in ipairs(order) do
  counts[#counts + 1] = rev
  counts[#counts + 1] = went[rev]
end
return {finished, stay, strange, counts}
