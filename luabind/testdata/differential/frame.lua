-- Every program stands in place of the line BODY.
T, L = {}, {} local notes, fuel = {}, 60
local function show(v, deep)
  local kind = type(v)
  if kind == "number" then return string.format("%d", v) end
  if kind == "string" then return "'" .. v .. "'" end
  if kind ~= "table" then return kind == "function" and "fn" or tostring(v) end
  if (deep or 0) > 3 then return "deep" end
  local keys = {}
  for k in pairs(v) do keys[#keys + 1] = k end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for i, k in ipairs(keys) do keys[i] = tostring(k) .. "=" .. show(v[k], (deep or 0) + 1) end
  return "{" .. table.concat(keys, ",") .. "}"
end
local function note(...)
  local line = {}
  for i = 1, select("#", ...) do line[i] = show((select(i, ...))) end
  notes[#notes + 1] = table.concat(line, " ")
end
local function burn() fuel = fuel - 1 if fuel < 0 then error("fuel", 0) end return true end
local function num(v) v = tonumber(v) if v and v > -10000 and v < 10000 then return v end return 1 end
local function str(v) if type(v) == "string" and #v < 40 then return v end return "s" end
local function tab(v) if type(v) == "table" then return v end return { a = 1 } end
local function id(...) return ... end
local function two(v) return v, not v end
local function none() end
local function call(f, ...) if type(f) == "function" then burn() return f(...) end return f end
local ok, err = pcall(function(...)
BODY
end, 7, nil, "x")
note(ok, err)
return table.concat(notes, "\n")
