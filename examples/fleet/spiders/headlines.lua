local clean = require("lib.clean")

local spider = {
  name = "headlines",
  settings = { download_delay = 1, depth_limit = 2 },
}

function spider.parse(response)
  for heading in response:css("h1, h2"):each() do
    emit { url = response.url, heading = clean.line(heading:text()) }
  end
  emit(response:follow_all(response:links { same_host = true }, "parse"))
end

function spider.process_item(item)
  if item.heading == "" then drop("empty heading") end
  return item
end

return spider
