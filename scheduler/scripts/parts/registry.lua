-- The registry's keys come after those of the spider's crawl.
--
--   registry   spider -> "<version> <entry as JSON>"
--   states     spider -> running, paused, draining or stopped
local registry, states, version, log = KEYS[21], KEYS[22], KEYS[23], KEYS[24]
local members, reports, revision = KEYS[25], KEYS[26], KEYS[27]

-- changed notes a change in the spider's history, tells those who listen, and returns its version.
local function changed(spider, event, channel)
  local v = redis.call('INCR', version)
  redis.call('RPUSH', log, v .. ' ' .. event)
  redis.call('LTRIM', log, -1000, -1)
  redis.call('PUBLISH', channel, spider)
  return v
end
