-- A module of the project's own: require looks in the spider's folder.
local dates = {}

local months = {}
for i, name in ipairs { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" } do
  months[name] = i
end

-- iso turns "3 Mar 2026" into "2026-03-03"; nil when it is no such date.
function dates.iso(s)
  local day, name, year = (s or ""):match("(%d+) (%a%a%a)%a* (%d%d%d%d)")
  local month = months[name]
  if not month then
    return nil
  end
  return string.format("%d-%02d-%02d", year, month, day)
end

return dates
