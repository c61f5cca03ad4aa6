-- One item of 50 KB a page, into a file and then into a table that is slow, and every link of the page. STORE_DSN is the database's.
local spider = {
  name = "graph",
  settings = { concurrent_requests = 4, sink_buffer = 40, concurrent_requests_per_domain = 64 },
  items = { page = { url = "string! key", text = "string!" } },
  pipelines = {
    { "feed", order = 100, path = "pages.jsonl" },
    { "sql", order = 200, dsn = "env:STORE_DSN", table = "pages" },
    { "redis", order = 300 },
  },
}

function spider.parse(response)
  emit(items.page { url = response.url, text = ("x"):rep(50000) })
  emit(response:follow_all(response:links(), "parse"))
end

return spider
