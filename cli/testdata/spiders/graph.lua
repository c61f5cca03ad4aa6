-- One item a page and every link of the page, for tests that count. -a pad=N makes the items N bytes larger.
local spider = {
  name = "graph",
  settings = { lease = 1, lease_attempts = 50, concurrent_requests = 16, concurrent_requests_per_domain = 64 },
}

function spider.parse(response)
  emit { url = response.url, pad = spider.args.pad and ("x"):rep(tonumber(spider.args.pad)) }
  emit(response:follow_all(response:links(), "parse"))
end

return spider
