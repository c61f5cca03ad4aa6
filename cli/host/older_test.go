package host

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"luacrawl/scheduler"
)

// oldAndNew are two revisions of a spider with different callbacks: the first makes 20 requests, which the site holds back.
func oldAndNew() (before, after *scheduler.Revision) {
	const text = `local spider = { name = "news", settings = { concurrent_requests_per_domain = 64 } }
function spider.make_request_from_data(data)
  local list = {}
  for i = 1, 20 do list[i] = request { url = data .. "%[1]s" .. i, callback = "page_%[1]s" } end
  return list
end
function spider.page_%[1]s(response) emit { version = "%[1]s", url = response.url } end
spider.parse = spider.page_%[1]s
return spider
`
	return revision("news", "news.lua", fmt.Sprintf(text, "old")), revision("news", "news.lua", fmt.Sprintf(text, "new"))
}

// TestFinishOld: requests that the old revision made are finished by it, also on a host that has never run it; new ones by the new one.
func TestFinishOld(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	release := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer site.Close()
	before, after := oldAndNew()
	v := f.push(before, scheduler.Adopt)
	h := f.host("")
	h.confirms(before, v)
	f.redis.Strings("RPUSH", "news:start_urls", site.URL+"/")
	h.reports("news", "pages are in flight", func(s *scheduler.SpiderReport) bool { return s.InFlight == 16 })
	v = f.push(after, scheduler.FinishOld)
	h.confirms(after, v)
	second := f.host("") // it learns of the old revision from Redis
	second.confirms(after, v)
	f.redis.Strings("RPUSH", "news:start_urls", site.URL+"/")
	close(release)
	f.eventually("40 items", func() bool { return len(f.redis.Strings("LRANGE", "news:items", "0", "-1")) >= 40 })
	items := f.redis.Strings("LRANGE", "news:items", "0", "-1")
	slices.Sort(items)
	if n := len(slices.Compact(items)); n != 40 {
		t.Errorf("%d different items", n)
	}
	for _, item := range items {
		if strings.Contains(item, "/old") != strings.Contains(item, `"version":"old"`) {
			t.Errorf("%s was parsed by the other revision", item)
		}
	}
	if dead := f.redis.Strings("LRANGE", "news:dead", "0", "-1"); len(dead) > 0 {
		t.Errorf("dead letters: %v", dead)
	}
}

// TestFinishOldWithoutTheOld: when the revision that made a request cannot be had, the newest takes the request over.
func TestFinishOldWithoutTheOld(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rev := revision("news", "news.lua", spiderText("news", "1"))
	v := f.push(rev, scheduler.FinishOld)
	if _, err := f.client.PushSeeds(t.Context(), "news", scheduler.Keys{}, [][]byte{[]byte(f.site.URL + "/")}); err != nil {
		t.Fatal(err)
	}
	old := f.host("")
	old.confirms(rev, v)
	f.itemsFrom("news", "1")
	old.stop()
	f.redis.Strings("DEL", "luacrawl:revision:"+rev.ID[:12])
	next := revision("news", "news.lua", spiderText("news", "2"))
	v = f.push(next, scheduler.FinishOld)
	h := f.host("")
	h.confirms(next, v)
	f.itemsFrom("news", "2")
	h.says("the revision that made some requests cannot be had")
	if n := strings.Count(h.log.String(), "cannot be had"); n != 1 {
		t.Errorf("said %d times", n)
	}
}
