-- Dead letters that a script writes itself, in the form of scheduler.DeadLetter.
local DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

local function base64(s)
  local out = {}
  for i = 1, #s, 3 do
    local a, b, c = string.byte(s, i, i + 2)
    local n = a * 65536 + (b or 0) * 256 + (c or 0)
    for k = 3, 0, -1 do
      local d = math.floor(n / 64 ^ k) % 64 + 1
      out[#out + 1] = string.sub(DIGITS, d, d)
    end
    if not b then out[#out - 1] = '=' end
    if not c then out[#out] = '=' end
  end
  return table.concat(out)
end

local function is_utf8(s)
  local rest = string.gsub(s, '[\194-\223][\128-\191]', '')
  rest = string.gsub(rest, '[\224-\239][\128-\191][\128-\191]', '')
  rest = string.gsub(rest, '[\240-\244][\128-\191][\128-\191][\128-\191]', '')
  return not string.find(rest, '[\128-\255]')
end

-- letter gives up body: the seed or the request's JSON, or a whole member that is not ours.
local function letter(reason, why, slot, worker, attempts, body)
  local l = {reason = reason, time = math.floor(now / 1000), kind = 'request'}
  if why ~= '' then l.error = why end
  if worker ~= '' then l.worker = worker end
  if attempts > 0 then l.attempts = attempts end
  local raw = ''
  if slot == SEEDS then
    l.kind = 'seed'
    if is_utf8(body) then l.seed = body else l.seed_base64 = base64(body) end
  else
    local ok, r = pcall(cjson.decode, body)
    if ok and type(r) == 'table' and is_utf8(body) then
      raw = body
      if type(r.url) == 'string' then l.url = r.url end
      if type(r.callback) == 'string' then l.callback = r.callback end
      if type(r.state) == 'table' and type(r.state.revision) == 'string' then l.revision = r.state.revision end
    elseif is_utf8(body) then
      raw = cjson.encode(body)
    else
      raw = '"base64:' .. base64(body) .. '"'
    end
  end
  local json = cjson.encode(l)
  if raw == '' then return json end
  return string.sub(json, 1, -2) .. ',"request":' .. raw .. '}'
end
