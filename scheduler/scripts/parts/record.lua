-- A record of inflight whose page has landed (land.lua) has this byte before its worker: busy does not count its lease for its slot.
local LANDED = '\1'

-- parse reads a record of inflight: score, slot, worker, member, landed. One that somebody has spoilt becomes an empty request.
local function parse(rec)
  local s = string.find(rec, ' ', 1, true)
  local a = string.find(rec, '\n', 1, true)
  if not s or not a or s > a then return '0', '', '', '00000000000000' end
  local b = string.find(rec, '\n', a + 1, true)
  if not b or not string.find(string.sub(rec, b + 1), HEAD) then return '0', '', '', '00000000000000' end
  local landed = string.sub(rec, a + 1, a + 1) == LANDED
  local from = a + 1
  if landed then from = a + 2 end
  return string.sub(rec, 1, s - 1), string.sub(rec, s + 1, a - 1), string.sub(rec, from, b - 1), string.sub(rec, b + 1), landed
end
