-- Articles into a table of MySQL or MariaDB, which is made when it is not there.
--
-- Where the database is, the environment says, so that no password lies in a file:
--   HOTNEWS_DSN=mysql://user:password@10.0.0.5/hotnews
-- Another variable is named by -a dsn=env:OTHER_DSN.
local sql = require "sql"

local mysql = {}

local create = [[
CREATE TABLE IF NOT EXISTS articles (
  item_id        CHAR(40) NOT NULL PRIMARY KEY,
  title          VARCHAR(500) NOT NULL,
  abstract       TEXT NOT NULL,
  source         VARCHAR(200),
  source_url     VARCHAR(2083) NOT NULL,
  comments_count INT NOT NULL,
  behot_time     DATETIME
) CHARACTER SET utf8mb4]]

-- A page that is fetched again, because its worker died before it had said what it had done, brings the same item_id.
local upsert = [[
INSERT INTO articles (item_id, title, abstract, source, source_url, comments_count, behot_time)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE title = VALUES(title), abstract = VALUES(abstract), source = VALUES(source),
  comments_count = VALUES(comments_count), behot_time = VALUES(behot_time)]]

-- exec tells a database that is away from a statement that it refuses.
local function exec(...)
  local done, why, kind = mysql.db:exec(...)
  if kind == "unavailable" or kind == "busy" then
    unavailable(why) -- the page waits, and this call is made again; nothing is lost
  end
  if not done then
    error(why, 0) -- the item goes to hotnews:dead with what MySQL says
  end
end

-- Before the first item.
function mysql.open_spider(spider)
  mysql.db = sql.open(spider.args.dsn or "env:HOTNEWS_DSN")
  exec(create)
end

function mysql.process_item(item, spider, item_id)
  local behot_time = item.behot_time and item.behot_time:sub(1, 19):gsub("T", " ") -- UTC, as MySQL writes it
  exec(upsert, item_id, item.title, item.abstract, item.source, item.source_url, item.comments_count, behot_time)
  return item -- to the next pipeline
end

return mysql
