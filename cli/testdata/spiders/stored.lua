-- One item a page, into a table and then into Redis, and every link of the page. STORE_DSN is the database's.
local spider = {
  name = "graph",
  settings = { lease = 1, lease_attempts = 100, concurrent_requests = 16, concurrent_requests_per_domain = 64 },
  items = { page = { url = "string! key", text = "string!" } },
  pipelines = {
    { "sql", order = 300, dsn = "env:STORE_DSN", table = "pages" },
    { "redis", order = 400 },
  },
}

function spider.parse(response)
  emit(items.page { url = response.url, text = "it's \"" .. response.url .. "\" 😀" })
  emit(response:follow_all(response:links(), "parse"))
end

return spider
