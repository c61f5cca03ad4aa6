-- in_flight is how many requests are in flight in the whole fleet: leases but for those of seeds, which are no requests to a site, and of
-- pages that have landed. A robots.txt is fetched under the lease of a page, so it counts as that.
local function in_flight()
  local aside = redis.call('HMGET', busy, SEEDS, SHORE)
  return redis.call('ZCARD', leases) - (tonumber(aside[1] or 0) or 0) - (tonumber(aside[2] or 0) or 0)
end
