-- drop: take dead letters out of the list. Their requests stay counted as dead.
--
-- KEYS  all (parts/keys.lua)
-- ARGV  from (where a page of the list begins), then (place in the page, sha1)... in the order of the list
-- Returns a flag for each letter: '1' gone, '0' it was no longer there.
local from, flags, struck = tonumber(ARGV[1]), {}, {}
local there = standing(from, 2, 2)
for k = 2, #ARGV, 2 do
  if there[k] then
    struck[#struck + 1] = tonumber(ARGV[k])
    flags[#flags + 1] = '1'
  else
    flags[#flags + 1] = '0'
  end
end
strike(from, struck)
return table.concat(flags)
