-- Reads programs as JSON strings, one a line, and writes {"body":...,"answer":...} lines.
local escapes = { n = "\n", t = "\t", r = "\r", ["\\"] = "\\", ['"'] = '"', ["/"] = "/" }

local function quote(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("\n", "\\n"):gsub("\t", "\\t"):gsub("%z", "\\u0000")
    :gsub("%c", function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

local frame = assert(io.open("frame.lua")):read("*a")
local from, to = frame:find("\nBODY\n", 1, true)

local function answer(body)
  local program = frame:sub(1, from) .. body .. frame:sub(to)
  local chunk, why = loadstring(program, "=program")
  if not chunk then error(why .. "\n" .. program) end
  setfenv(chunk, setmetatable({}, { __index = _G }))
  local ok, result = pcall(chunk)
  if not ok then error(result .. "\n" .. program) end
  return result
end

for line in io.lines() do
  local program = line:sub(2, -2):gsub("\\(.)", function(c) return escapes[c] or error("escape " .. c) end)
  io.write('{"body":', quote(program), ',"answer":', quote(answer(program)), "}\n")
end
