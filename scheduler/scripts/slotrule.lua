-- slotrule: what people say live of one slot.
--
-- KEYS  all (parts/keys.lua), then the registry's (parts/registry.lua)
-- ARGV  spider, event as JSON, channel, slot, then (word (parts/rules.lua), number; '' takes it back)...
-- Returns {version of the change (0: nothing was to be changed), known (1: the slot has or has had requests), rule before, rule now}.
redis.call('LLEN', log)
local was = redis.call('HGET', rules, ARGV[4]) or ''
local words, known = rule_words(was), 0
if redis.call('ZSCORE', slots, ARGV[4]) or redis.call('HEXISTS', busy, ARGV[4]) == 1 or redis.call('EXISTS', queue(ARGV[4])) == 1 then known = 1 end
local before = rule_text(words)
for i = 5, #ARGV, 2 do words[ARGV[i]] = tonumber(ARGV[i + 1]) end
local after = rule_text(words)
if after == before then return {0, known, before, after} end
local v = changed(ARGV[1], ARGV[2], ARGV[3])
if after == '' then
  redis.call('HDEL', rules, ARGV[4])
else
  redis.call('HSET', rules, ARGV[4], after)
end
return {v, known, before, after}
