-- blog: every post of a blog, found by following the links of its lists.
local dates = require "lib.dates"

local spider = { name = "blog" }

-- A list page: its posts, and the next list if there is one.
function spider.parse(response)
  emit(response:follow_all(response:links { restrict_css = ".posts", same_host = true }, "parse_post"))
  emit(response:follow_all(response:links { restrict_css = "a.older" }, "parse"))
end

function spider.parse_post(response)
  emit {
    url = response.url,
    title = response:css("h1::text"):get(),
    date = dates.iso(response:css(".date::text"):get()),
    tags = response:css(".tag::text"):getall(),
  }
end

function spider.process_item(item)
  if not item.date then
    drop("no date")
  end
  return item
end

return spider
