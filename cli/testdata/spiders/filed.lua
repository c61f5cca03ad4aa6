-- One item a page, into three feeds and then into Redis, and every link of the page.
local spider = {
  name = "graph",
  settings = { lease = 1, lease_attempts = 100, concurrent_requests = 16, concurrent_requests_per_domain = 64 },
  items = { page = { url = "string! key", text = "string!", n = "integer" } },
  pipelines = {
    { "feed", order = 100, path = "pages.jsonl" },
    { "feed", order = 200, path = "pages.csv", fields = { "url", "text", "n" } },
    { "feed", order = 300, path = "parts/%(part)03d.jsonl.gz", rotate_count = 150 },
    { "redis", order = 400 },
  },
}

function spider.parse(response)
  emit(items.page { url = response.url, text = "it's \"" .. response.url .. "\",\nin two lines", n = #response.body })
  emit(response:follow_all(response:links(), "parse"))
end

return spider
