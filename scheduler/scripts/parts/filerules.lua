-- file_rules changes the rules of the spider's file from those of one text (JSON: slot -> delay in seconds, concurrency, randomize_delay)
-- to those of another. It only reads, and returns the function that writes.
local function file_rules(before, after)
  local function read(text)
    local ok, all = pcall(cjson.decode, text)
    if ok and type(all) == 'table' then return all end
    return {}
  end
  local put, gone = {}, {}
  if before ~= after then
    local names, old, new = {}, read(before), read(after)
    for slot in pairs(old) do names[#names + 1] = slot end
    for slot in pairs(new) do
      if old[slot] == nil then names[#names + 1] = slot end
    end
    for i = 1, #names, 1000 do
      local j = math.min(i + 999, #names)
      local texts = redis.call('HMGET', rules, unpack(names, i, j))
      for k = i, j do
        local words, own = rule_words(texts[k - i + 1] or ''), new[names[k]] or {}
        words.fd, words.fc, words.fj = nil, own.concurrency, nil
        if own.delay then words.fd = math.floor(own.delay * 1000 + 0.5) end
        if own.randomize_delay == true then words.fj = 1 end
        if own.randomize_delay == false then words.fj = 0 end
        local text = rule_text(words)
        if text == '' then
          gone[#gone + 1] = names[k]
        else
          put[#put + 1] = names[k]
          put[#put + 1] = text
        end
      end
    end
  end
  return function()
    each('HDEL', rules, gone)
    each('HSET', rules, put)
  end
end
