-- hotnews: the hot stories of a news site, out of the JSON feed that its page scrolls through, into MySQL and then into Redis.
--
--   luacrawl run hotnews.lua --redis redis://127.0.0.1:6379/0           on each host; HOTNEWS_DSN says where MySQL is
--   redis-cli lpush hotnews:start_urls 'https://news.example/api/feed?category=news_hot&max_behot_time=0'
local spider = {
  name = "hotnews",
  settings = {
    download_delay = 0.5, -- seconds between two requests to a host, whatever the number of workers
    concurrent_requests_per_domain = 2,
  },
}

-- What an item holds. Anything else is refused, so that a mistyped name does not end up in a table.
spider.items = {
  article = {
    source_url = "string! key", -- identifies the article: item_id is made of it
    title = "string!",
    abstract = { type = "string", default = "" },
    source = "string",
    comments_count = { type = "integer", default = 0 },
    behot_time = "time", -- the feed's seconds since 1970 become a date
  },
}

-- Items go from the lowest order to the highest: what MySQL has not taken does not come to hotnews:items.
spider.pipelines = {
  { "pipelines.mysql", order = 300 }, -- pipelines/mysql.lua
  { "redis", order = 400 },
}

-- What the feed wants to see: a page's script asks, with the cookie that the page has set.
local headers = { ["Accept"] = "application/json", ["X-Requested-With"] = "XMLHttpRequest" }
local cookies = { tt_webid = "7301584201993650176" }

local categories = { "news_hot", "news_city", "news_science", "news_sport", "news_money", "news_travel" }

-- A page of the feed: stories older than max_behot_time; 0 means the newest.
local function feed_url(category, max_behot_time)
  return string.format("/api/feed?category=%s&max_behot_time=%d", category, max_behot_time)
end

local function feed_request(url, seed)
  return request { url = url, callback = "parse_feed", headers = headers, cookies = cookies, dont_filter = seed }
end

-- What `luacrawl seed` gives the crawl to start with: the first page of each category.
function spider.seeds()
  local base = spider.args.base
  if not base then
    error("which site? give -a base=https://news.example")
  end
  local urls = {}
  for i, category in ipairs(categories) do
    urls[i] = base .. feed_url(category, 0)
  end
  return urls
end

-- One seed, from seeds() or from redis-cli. It is crawled again each time it is given.
function spider.make_request_from_data(data)
  return feed_request(data, true)
end

function spider.parse_feed(response)
  local feed = assert(response:json()) -- not JSON: the request goes to hotnews:dead with this error
  for _, entry in ipairs(feed.data) do
    emit(items.article {
      title = entry.title,
      abstract = entry.abstract,
      source = entry.source,
      source_url = response:urljoin(entry.source_url),
      comments_count = entry.comments_count,
      behot_time = entry.behot_time,
    })
  end
  if feed.has_more then
    local category = response.url:match("[?&]category=([%w_]+)")
    emit(feed_request(response:urljoin(feed_url(category, feed.next.max_behot_time))))
  end
end

-- Every item passes here before it comes to the pipelines.
function spider.process_item(item)
  if item.source == "Advertisement" then
    drop("advertisement")
  end
  return item
end

return spider
