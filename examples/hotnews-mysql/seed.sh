#!/bin/sh
# Seeds the crawl without luacrawl: each line is a page that some worker begins with. Usage: sh seed.sh [BASE]; $REDIS is the URL of Redis.
base=${1:-http://127.0.0.1:8085}
for category in hot city science sport money travel; do
  redis-cli -u "${REDIS:-redis://127.0.0.1:6379/0}" lpush hotnews:start_urls "$base/api/feed?category=news_$category&max_behot_time=0"
done
