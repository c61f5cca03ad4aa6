-- Places of requests in the whole fleet (concurrent_requests_total), and what of them is whose.

-- in_flight is how many requests are in flight in the whole fleet: leases but for those of seeds, which are no requests to a site, and of
-- pages that have landed. A robots.txt is fetched under the lease of a page, so it counts as that. The second value is how many leases there are.
local function in_flight()
  local all = redis.call('ZCARD', leases)
  if all == 0 then return 0, 0 end
  local aside = redis.call('HMGET', busy, SEEDS, SHORE)
  return all - (tonumber(aside[1] or 0) or 0) - (tonumber(aside[2] or 0) or 0), all
end

-- A worker that commits has the places of what it brings back at once, before others ask. So one that finds none although it has less than
-- its share notes when (S:meta "crowded"), and for a while nobody takes more than that.
local CROWDED = 1500   -- ms; workers that find no place ask again within 1000

-- share_of is what each worker may have at least, and one place if there are more workers than places.
local function share_of(total)
  local alive = redis.call('ZCOUNT', workers, now, '+inf')
  return math.max(1, math.floor(total / math.max(1, alive)))
end

local function crowded()
  local at = tonumber(redis.call('HGET', meta, 'crowded') or '')
  return at and at <= now and now - at < CROWDED
end

-- crowd is no reason to answer nothing, out of memory as it may be.
local function crowd() redis.pcall('HSET', meta, 'crowded', string.format('%.0f', now)) end
