-- Every script is given the same KEYS in this order and reads no clock but Redis'.
-- Computed names: queues, which are requests (slot '') and requests:<slot>, and what stands below items (parts/consumers.lua).
--
--   queue member   <sequence, 12 hex><attempts, 2 hex><json>      score = -priority
--   inflight       lease id -> "<score> <slot>\n<worker>\n<member>", with \1 before the worker once its page has landed
--   slots          slot -> next start in ms, + PARK while the slot is at its concurrency
--   delayed        "<sequence><attempts><score> <slot>\n<json>" -> due in ms
--   rules          slot -> what holds for it alone (parts/rules.lua)
--   pages          slot -> responses that callbacks had, while there is a budget of them (parts/budget.lua)
--   holds          "<why> <slot>" -> until when the slot is kept from its next start, in ms
--   throttle       slot -> how far it is slowed down (parts/throttle.lua)
--   cookies        "<jar>\n<cookie's key>" -> the cookie as JSON
--   cookie_changes the same -> number of its last change; what is in no field of cookies was deleted
--   commits        worker process -> "<number of its last commit> <flags answered>"
local meta, stats, slots, busy, rules = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local leases, inflight, commits, delayed, requests = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local dupefilter, items, dead, start_urls, workers = KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local pages, holds, throttle = KEYS[16], KEYS[17], KEYS[18]
local cookies, cookie_changes = KEYS[19], KEYS[20]
local PARK = 1e15
local SEEDS = '@seeds'
local SHORE = '@landed'   -- busy counts leases here whose pages have landed (land.lua)
local HEAD = '^%x%x%x%x%x%x%x%x%x%x%x%x%x%x'
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function queue(slot)
  if slot == '' then return requests end
  return requests .. ':' .. slot
end

-- each calls cmd key value... on many values in chunks: unpack fails near 8,000.
local function each(cmd, key, values)
  for i = 1, #values, 1000 do
    redis.call(cmd, key, unpack(values, i, math.min(i + 999, #values)))
  end
end
