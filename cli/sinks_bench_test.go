package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"luacrawl/engine/database/dbtest"
	"luacrawl/scheduler/redistest"
)

// measuredSinks are the pipelines whose cost BenchmarkSinks compares, "none" first. TABLE is another one each time.
var measuredSinks = []struct{ name, pipelines string }{
	{"none", ``},
	{"redis", `{ "redis", order = 9 }`},
	{"lua", `{ "lib.clean", order = 1 }`},
	{"jsonl", `{ "feed", order = 1, path = "items.jsonl" }`},
	{"jsonl.gz", `{ "feed", order = 1, path = "items.jsonl.gz" }`},
	{"jsonl.zst", `{ "feed", order = 1, path = "items.jsonl.zst" }`},
	{"csv", `{ "feed", order = 1, path = "items.csv" }`},
	{"sqlite", `{ "sql", order = 1, dsn = "sqlite:items.db", table = "TABLE" }`},
	{"mariadb", `{ "sql", order = 1, dsn = "env:MARIADB", table = "TABLE" }`},
	{"postgres", `{ "sql", order = 1, dsn = "env:POSTGRES", table = "TABLE" }`},
}

const sinkSpider = `local spider = {
  name = "sinks",
  items = { page = { url = "string! key", title = "string!", n = "integer", price = "number", text = "string", tags = "json" } },
  pipelines = { PIPELINES },
}
function spider.parse(response)
  local n = tonumber(response.url:match("%d+$"))
  emit(items.page { url = response.url, title = response:css("h1::text"):get(), n = n, price = n / 8, text = response:css("p::text"):get(), tags = { "a", "b" } })
  for _, href in ipairs(response:css("a::attr(href)"):getall()) do emit(response:follow(href, "parse")) end
end
return spider
`

const sinkModule = `return { process_item = function(item)
  item.title = item.title:gsub("%s+", " "):upper()
  if item.n < 0 then drop("negative") end
  return item
end }
`

// sinkBench are the servers and the site of a BenchmarkSinks.
type sinkBench struct {
	b                 *testing.B
	site              *httptest.Server
	redis             *redistest.Server
	mariadb, postgres string // DSNs
	pages             int
	runs              int
}

// BenchmarkSinks crawls with each sink in turn and reports, as medians of b.N rounds, the CPU of the process against that of a crawl without
// sinks in the same round, and items a second. What servers use is not counted.
func BenchmarkSinks(b *testing.B) {
	s := &sinkBench{b: b, pages: 1000, redis: redistest.Start(b, redistest.Options{}), mariadb: dbtest.MariaDB(b).DSN("root", "", "news"), postgres: dbtest.Postgres(b).DSN("postgres", "", "postgres")}
	if n, err := strconv.Atoi(os.Getenv("SINK_PAGES")); err == nil {
		s.pages = n
	}
	s.site = httptest.NewServer(http.HandlerFunc(s.serve))
	b.Cleanup(s.site.Close)
	ratios, rates := map[string][]float64{}, map[string][]float64{}
	for range b.N {
		var none float64
		for _, sink := range measuredSinks {
			cpu, wall := s.run(sink.pipelines)
			if sink.name == "none" {
				none = cpu
			}
			ratios[sink.name] = append(ratios[sink.name], cpu/none)
			rates[sink.name] = append(rates[sink.name], float64(s.pages)/wall)
		}
	}
	for _, sink := range measuredSinks[1:] {
		b.ReportMetric(median(ratios[sink.name]), sink.name+"-cpu/none")
		b.ReportMetric(median(rates[sink.name]), sink.name+"-items/s")
	}
}

// serve gives a page of 2 KB with 20 links.
func (s *sinkBench) serve(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><html><head><title>%d</title></head><body><h1>Page \"%d\", one of many</h1><p>%s</p>", n, n, strings.Repeat("Words, and more of them. ", 40))
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(w, `<a href="/%d">page %d</a>`, (n*20+i)%s.pages, i)
	}
	fmt.Fprint(w, "</body></html>")
}

// run crawls the site with some pipelines and gives the seconds that it took, of CPU and of time.
func (s *sinkBench) run(pipelines string) (cpu, wall float64) {
	s.b.Helper()
	s.runs++
	dir := s.b.TempDir()
	text := strings.Replace(sinkSpider, "PIPELINES", strings.ReplaceAll(pipelines, "TABLE", fmt.Sprintf("pages%d", s.runs)), 1)
	for name, content := range map[string]string{"sinks.lua": text, "lib/clean.lua": sinkModule} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			s.b.Fatal(err)
		}
	}
	s.redis.Strings("FLUSHALL")
	command := exec.Command("luacrawl", "run", "sinks.lua", "--until-done", "--redis", s.redis.URL(), "--seed", s.site.URL+"/0", "--set", "concurrent_requests_per_domain=1000")
	command.Dir = dir
	command.Env = append(os.Environ(), privateAllowed, robotsOff, "MARIADB="+s.mariadb, "POSTGRES="+s.postgres)
	start := time.Now()
	if out, err := command.CombinedOutput(); err != nil {
		s.b.Fatalf("%s: %v\n%s", pipelines, err, out)
	}
	wall = (time.Since(start) - time.Second).Seconds() // for which a crawl looks whether it is over
	if got := s.redis.Strings("HMGET", "sinks:stats", "item_scraped_count")[0]; got != strconv.Itoa(s.pages) {
		s.b.Fatalf("%s: %s items, want %d", pipelines, got, s.pages)
	}
	return (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds(), wall
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
