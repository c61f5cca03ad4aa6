-- The registry's keys come after those of the spider's crawl.
--
--   registry   spider -> "<version> <entry as JSON>"
--   states     spider -> running, paused, draining or stopped
local registry, states, version, log = KEYS[21], KEYS[22], KEYS[23], KEYS[24]
local members, reports, revision = KEYS[25], KEYS[26], KEYS[27]

-- forget takes a line out of a history that has become too long: the oldest that names no revision, so that a flush an hour pushes out no
-- push, and the oldest of all when each line before the last does.
local function forget()
  if redis.call('LLEN', log) <= 1000 then return end
  for _, line in ipairs(redis.call('LRANGE', log, 0, -2)) do
    if not string.find(line, '"revision":"', 1, true) then
      redis.call('LREM', log, 1, line)
      return
    end
  end
  redis.call('LPOP', log)
end

-- changed notes a change in the spider's history, tells those who listen, and returns its version.
local function changed(spider, event, channel)
  local v = redis.call('INCR', version)
  redis.call('RPUSH', log, v .. ' ' .. event)
  forget()
  redis.call('PUBLISH', channel, spider)
  return v
end
