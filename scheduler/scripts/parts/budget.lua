-- A budget of pages for each slot (closespider_pagecount_per_slot): responses that callbacks get, in the whole fleet. It is exact because
-- a slot has no more leases than pages left; what had landed (land.lua) when the budget came is none of its pages. S:pages counts while there is a budget: "<pages>", or "<pages> told" when it was said that the
-- slot has had them all.

-- for_file: a request for a file of an item. It is no page, and the item lies in it.
local function for_file(json)
  if not string.find(json, '"callback":"@files"', 1, true) then return false end
  local ok, r = pcall(cjson.decode, json)
  return ok and type(r) == 'table' and r.callback == '@files'
end

-- had reads how many pages a slot had, and what else its record says.
local function had(record)
  local _, _, n, rest = string.find(record or '', '^(%d+)(.*)$')
  return tonumber(n or 0), rest or ''
end
