-- Rules of single slots. What S:rules says of one are words: who says it, what, and a number.
--   fd2000 fc1 fj1   the spider's file (download_slots): delay in ms, concurrency, 1 for a delay that is randomized
--   ld2000 lc1 lj0   people, live; they go before the file
--   r5000            robots.txt: no delay is less than its crawl-delay
-- "<delay ms> <concurrency>", as older versions wrote it, is the same as ld and lc.
local WORDS = {'fd', 'fc', 'fj', 'ld', 'lc', 'lj', 'r'}

local function rule_words(text)
  local words = {}
  local _, _, d, c = string.find(text, '^(%d+) (%d+)$')
  if d then return {ld = tonumber(d), lc = tonumber(c)} end
  for word, n in string.gmatch(text, '(%l+)(%d+)') do words[word] = tonumber(n) end
  return words
end

-- rule_text is the rule of words, '' for one that says nothing.
local function rule_text(words)
  local out = {}
  for _, word in ipairs(WORDS) do
    if words[word] then out[#out + 1] = word .. string.format('%.0f', words[word]) end
  end
  return table.concat(out, ' ')
end

-- rule is what holds in a slot in place of what holds in all of them: delay ms, concurrency, whether the delay is randomized, and who
-- says the delay: 'live', 'spider', 'robots', or '' for nobody.
local function rule(text, delay, concurrency, randomize)
  local w, source = rule_words(text), ''
  local d, c, j = w.ld or w.fd, w.lc or w.fc, w.lj or w.fj
  if d then
    delay = d
    source = 'spider'
    if w.ld then source = 'live' end
  end
  if w.r and w.r > delay then
    delay = w.r
    source = 'robots'
  end
  if c then concurrency = math.max(c, 1) end
  if j then randomize = j == 1 end
  return delay, concurrency, randomize, source
end
