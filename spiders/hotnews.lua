-- hotnews: the hot stories of a news site and the older ones behind its section lists.
--
-- It shows the three kinds of pages that most sites are made of:
--   a JSON feed, paged by a time    /api/feed?max_behot_time=0     parse_feed
--   lists of links, paged by a link /section/city                  parse_list
--   the pages worth keeping         /story/7301584201993650176     parse_story
--
-- Try it on the site that luacrawl brings along:
--   luacrawl run --demo
-- or on one that looks like it, seeded from seeds() below:
--   luacrawl seed spiders/hotnews.lua -a base=https://news.example
--   luacrawl run spiders/hotnews.lua --until-done
local text = require "text"

local spider = {
  name = "hotnews",
  settings = {
    download_delay = 0.5, -- seconds between two requests to a host, whatever the number of workers
    concurrent_requests_per_domain = 2,
  },
}

-- What this site wants to see in a request. A spider's own headers stand beside the defaults, such as User-Agent.
local page_headers = { ["Accept"] = "text/html", ["Accept-Language"] = "en" }
local feed_headers = { ["Accept"] = "application/json", ["X-Requested-With"] = "XMLHttpRequest" }

-- The first page of the feed. The site answers with stories not newer than max_behot_time; 0 means the newest.
local function feed_url(base, max_behot_time)
  return string.format("%s/api/feed?category=news_hot&max_behot_time=%d", base, max_behot_time)
end

-- What `luacrawl seed` gives the crawl to start with.
function spider.seeds()
  local base = spider.args.base
  if not base then
    error("which site? give -a base=https://news.example")
  end
  local urls = { feed_url(base, 0) }
  for _, section in ipairs { "city", "science", "sport", "money" } do
    urls[#urls + 1] = base .. "/section/" .. section
  end
  return urls
end

-- One seed, from seeds() or from anyone who did: redis-cli lpush hotnews:start_urls URL
function spider.make_request_from_data(data)
  local is_feed = data:find("/api/feed", 1, true)
  return request {
    url = data,
    callback = is_feed and "parse_feed" or "parse_list",
    headers = is_feed and feed_headers or page_headers,
    dont_filter = true, -- a seed is crawled again each time it is given
  }
end

-- A request for a story. meta travels with the request, through Redis, to the callback.
local function story(url, meta)
  return request { url = url, callback = "parse_story", errback = "story_failed", headers = page_headers, meta = meta }
end

function spider.parse_feed(response)
  local feed = assert(response:json()) -- not JSON: the request goes to hotnews:dead with this error
  for _, entry in ipairs(feed.data) do
    emit(story(response:urljoin(entry.source_url), { hot = true, comments = entry.comments_count }))
  end
  if feed.has_more then
    emit(request {
      url = response:urljoin(feed_url("", feed.next.max_behot_time)),
      callback = "parse_feed",
      headers = feed_headers,
    })
  end
end

function spider.parse_list(response)
  for _, href in ipairs(response:css(".card h2 a::attr(href)"):getall()) do
    emit(story(response:urljoin(href), { hot = false }))
  end
  for _, href in ipairs(response:css("a.next::attr(href)"):getall()) do
    emit(request { url = response:urljoin(href), callback = "parse_list", headers = page_headers })
  end
end

-- Selectors are CSS with Scrapy's ::text and ::attr(name). get() is the first match or nil, getall() a list.
function spider.parse_story(response)
  emit {
    url = response.url,
    title = response:css("article h1::text"):get(),
    source = response:css(".byline .source::text"):get(),
    published = response:css("time::attr(datetime)"):get(),
    section = response:css(".tags li::text"):get(),
    abstract = response:css(".abstract"):text(),
    hot = response.meta.hot,
    comments = response.meta.comments, -- only the feed knows them; nil leaves the field out
  }
end

-- A story that could not be had. Without an errback it is only counted.
function spider.story_failed(failure)
  log("no story: " .. failure.reason)
end

-- Every item passes here before it is stored: return it, or drop it with a reason, which is counted.
function spider.process_item(item)
  if not item.title then
    drop("no title")
  end
  if item.source == "Advertisement" then
    drop("advertisement")
  end
  item.title = text.squeeze(item.title)
  item.abstract = text.squeeze(item.abstract)
  return item
end

return spider
