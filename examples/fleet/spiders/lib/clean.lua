-- What more than one spider needs: a push of this file reloads those that require it.
local clean = {}

function clean.line(s)
  return (s:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", ""))
end

return clean
