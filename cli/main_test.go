package cli_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"luacrawl/cli"
	"luacrawl/cli/demo"
)

// TestMain makes this test binary the command luacrawl for scripts and for tests that start processes.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"luacrawl":          func() { os.Exit(cli.Main(os.Args, cli.Process())) },
		"luacrawl-measured": measured,
	})
}

// The scripts in testdata/script are sessions at a command line. Each has a folder, a Redis ($REDIS) and the demo site
// ($SITE; $SITE/slow does not answer, $SITE/to?URL redirects, $SITE/header shows what was sent, $SITE/tagged?X says X in X-Robots-Tag,
// $SITE/cookie?a=1 sets a cookie and shows those that came) of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	hangs := time.Now().Add(6 * time.Minute)
	if end, ok := t.Deadline(); ok && os.Getenv("LUACRAWL_SOAK") != "" { // they wait for longer tests to end
		hangs = end.Add(-time.Minute)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			site, err := newSite()
			if err != nil {
				return err
			}
			env.Defer(site.Close)
			redis := miniredis.NewMiniRedis()
			if err := redis.Start(); err != nil {
				return err
			}
			env.Defer(redis.Close)
			env.Vars = append(env.Vars, "SITE="+site.URL, "HOST="+strings.TrimPrefix(site.URL, "http://"), "REDIS=redis://"+redis.Addr(), "SPIDERS="+abs("../spiders"), "EXAMPLES="+abs("../examples"), privateAllowed, robotsOff)
			env.Values[redisKey{}] = redis
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode,
			"redis":    redisCommand,
			"waitfor":  waitFor,
		},
		ContinueOnError: true,
		Deadline:        hangs, // a command that hangs shows where
	})
}

// privateAllowed lets a crawl reach the sites of tests, which are on loopback addresses.
const privateAllowed = "LUACRAWL_ALLOW_PRIVATE_ADDRESSES=true"

// robotsOff spares them the question for robots.txt, which some of them would count; robots.txtar has the default.
const robotsOff = "LUACRAWL_ROBOTSTXT_OBEY=false"

type redisKey struct{}

func newSite() (*httptest.Server, error) {
	news, err := demo.Handler()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", news)
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.RawQuery) // wherever it leads
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /header\nSitemap: /sitemap.xml\n")
	})
	mux.HandleFunc("/sitemap.xml", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<sitemapindex><sitemap><loc>/sitemap.xml.gz</loc></sitemap></sitemapindex>")
	})
	mux.HandleFunc("/sitemap.xml.gz", func(w http.ResponseWriter, _ *http.Request) {
		packed := gzip.NewWriter(w)
		defer packed.Close()
		fmt.Fprint(packed, "<urlset><url><loc>/tagged?noindex</loc><lastmod>2025-12-03</lastmod></url><url><loc>/tagged?nofollow</loc></url></urlset>")
	})
	mux.HandleFunc("/tagged", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Robots-Tag", r.URL.RawQuery)
		fmt.Fprintf(w, `<a href="/after?%s">on</a>`, r.URL.RawQuery)
	})
	mux.HandleFunc("/after", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/header", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Accept-Language", "Referer", "User-Agent"} {
			fmt.Fprintf(w, "%s=%s;", name, r.Header.Get(name))
		}
	})
	mux.HandleFunc("/cookie", func(w http.ResponseWriter, r *http.Request) {
		if line, err := url.QueryUnescape(r.URL.RawQuery); err == nil && line != "" {
			w.Header().Set("Set-Cookie", line)
		}
		fmt.Fprint(w, r.Header.Get("Cookie"))
	})
	mux.Handle("/blog/", http.StripPrefix("/blog", http.FileServer(http.Dir("../examples/blog/site"))))
	return httptest.NewServer(mux), nil
}

func abs(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return wd + "/" + path
}

// exitCode is "exitcode N COMMAND...": the command must end with that code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND...")
	}
	err, exit := ts.Exec(args[1], args[2:]...), (*exec.ExitError)(nil)
	got := 0
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// waitFor is "waitfor FILE REGEXP": it returns when a line of the file matches. FILE may be a pattern of one file.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitfor FILE REGEXP")
	}
	want := regexp.MustCompile("(?m)" + args[1])
	var b []byte
	if !poll(10*time.Second, func() bool {
		files, err := filepath.Glob(ts.MkAbs(args[0]))
		if err != nil || len(files) != 1 {
			return false
		}
		b, err = os.ReadFile(files[0])
		return err == nil && want.Match(b)
	}) {
		ts.Fatalf("%s never matched %q:\n%s", args[0], args[1], b)
	}
}
