package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"luacrawl/scheduler"
	"luacrawl/scheduler/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fleet is a Redis of its own, a site whose pages never end, and the hosts that a test starts.
type fleet struct {
	t      *testing.T
	redis  *redistest.Server
	client *scheduler.Client
	site   *httptest.Server
	hosts  int
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, redis: redistest.Start(t, redistest.Options{})}
	f.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-r.Context().Done():
		}
		fmt.Fprintf(w, `<a href="%sa">a</a><a href="%sb">b</a>`, r.URL.Path, r.URL.Path)
	}))
	t.Cleanup(f.site.Close)
	f.client = f.dial()
	return f
}

func (f *fleet) dial() *scheduler.Client {
	f.t.Helper()
	c, err := scheduler.Dial(f.t.Context(), scheduler.DialOptions{URL: f.redis.URL(), Wait: 10 * time.Second})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.Close() })
	return c
}

// running is a host at work.
type running struct {
	*Host
	fleet  *fleet
	log    *lockedBuffer
	cancel context.CancelCauseFunc
	ended  chan struct{}

	mu     sync.Mutex
	crawls []Ended // guarded by mu
}

// host starts a host. It ends with the test.
func (f *fleet) host(data string, only ...string) *running {
	f.t.Helper()
	return f.hostOn(f.dial(), data, only...)
}

// dialAs connects as a user, whose password is its name, that a command makes.
func (f *fleet) dialAs(user string, command ...any) *scheduler.Client {
	f.t.Helper()
	f.redis.Strings(command...)
	c, err := scheduler.Dial(f.t.Context(), scheduler.DialOptions{URL: "redis://" + user + ":" + user + "@" + f.redis.Addr + "/0", Wait: 10 * time.Second})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.Close() })
	return c
}

// hostOn is host with a client of its own.
func (f *fleet) hostOn(client *scheduler.Client, data string, only ...string) *running {
	f.t.Helper()
	f.hosts++
	out := &lockedBuffer{}
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &running{fleet: f, log: out, cancel: cancel, ended: make(chan struct{})}
	r.Host = New(Options{
		Client: client, Only: only, Data: data, Outside: Outside{Stdout: io.Discard}, Layers: Layers{Sets: map[string]string{"allow_private_addresses": "true", "robotstxt_obey": "false"}}, Identity: Identity{Worker: fmt.Sprintf("host%d:%d", f.hosts, os.Getpid()), Kind: "worker", Tool: "test"},
		Voice:   voice(out, ""),
		VoiceOf: func(spider string) Voice { return voice(out, spider+": ") },
		OnEnded: func(e Ended) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.crawls = append(r.crawls, e)
		},
	})
	go func() {
		_ = r.Run(ctx)
		close(r.ended)
	}()
	f.t.Cleanup(r.stop)
	return r
}

// stop interrupts a host and waits for its end.
func (r *running) stop() {
	r.cancel(errors.New("interrupted"))
	<-r.ended
}

func voice(out *lockedBuffer, prefix string) Voice {
	say := func(line string) { fmt.Fprintln(out, prefix+line) }
	return Voice{
		Logger: slog.New(slog.NewTextHandler(out, nil)), Notice: say, Alarm: say,
		SetLevel: func(name string) error { say("log level " + name); return nil },
		Explain:  error.Error,
	}
}

// lockedBuffer is written by hosts while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// spiderText is a spider whose items carry its version.
func spiderText(name, version string, more ...string) string {
	return fmt.Sprintf(`local spider = { name = %q, settings = { concurrent_requests_per_domain = 64, concurrent_requests = 4 } }
function spider.parse(response)
  emit { version = %q }
  emit(response:follow_all(response:links(), "parse"))
end
%s
return spider
`, name, version, strings.Join(more, "\n"))
}

// revision is one of files; the first is the main file.
func revision(spider string, files ...string) *scheduler.Revision {
	r := &scheduler.Revision{Spider: spider, Files: map[string][]byte{}, Author: "ann", Time: time.Now(), Tool: "test"}
	for i := 0; i < len(files); i += 2 {
		if r.Main == "" {
			r.Main = files[i]
		}
		r.Files[files[i]] = []byte(files[i+1])
	}
	r.ID = scheduler.RevisionID(r.Main, r.Files)
	return r
}

// push makes a revision what the fleet runs, and returns the version of its entry.
func (f *fleet) push(r *scheduler.Revision, policy scheduler.Policy) int64 {
	f.t.Helper()
	if _, err := f.client.PutRevision(f.t.Context(), r); err != nil {
		f.t.Fatal(err)
	}
	return f.flip(r, policy)
}

func (f *fleet) flip(r *scheduler.Revision, policy scheduler.Policy) int64 {
	f.t.Helper()
	was := int64(0)
	now, err := f.client.RegistryEntry(f.t.Context(), r.Spider)
	if err == nil {
		was = now.Version
	}
	v, err := f.client.Flip(f.t.Context(), scheduler.Entry{Spider: r.Spider, Revision: r.ID, Main: r.Main, Policy: policy, Author: "ann", Time: time.Now()}, was, "push")
	if err != nil {
		f.t.Fatal(err)
	}
	return v
}

func (f *fleet) pushText(name, version string, more ...string) (*scheduler.Revision, int64) {
	f.t.Helper()
	r := revision(name, name+".lua", spiderText(name, version, more...))
	return r, f.push(r, scheduler.Adopt)
}

func (f *fleet) seed(spider string) {
	f.redis.Strings("RPUSH", spider+":start_urls", f.site.URL+"/"+spider+"/")
}

// lastItem is the newest item of a spider.
func (f *fleet) lastItem(spider string) string {
	for _, item := range f.redis.Strings("LRANGE", spider+":items", "-1", "-1") {
		return item
	}
	return ""
}

func (f *fleet) itemsFrom(spider, version string) {
	f.t.Helper()
	f.eventually("items of version "+version, func() bool { return strings.Contains(f.lastItem(spider), `"version":"`+version+`"`) })
}

// report is what the fleet hears of a spider in a host, nil when it hears nothing.
func (r *running) report(spider string) *scheduler.SpiderReport {
	r.fleet.t.Helper()
	workers, err := r.fleet.client.Workers(r.fleet.t.Context())
	if err != nil {
		return nil
	}
	for _, w := range workers {
		for i := range w.Spiders {
			if w.ID == r.reporter.report.ID && w.Spiders[i].Spider == spider {
				return &w.Spiders[i]
			}
		}
	}
	return nil
}

// reports waits until the fleet hears something of a spider in a host.
func (r *running) reports(spider, what string, ok func(*scheduler.SpiderReport) bool) {
	r.fleet.t.Helper()
	if !poll(20*time.Second, func() bool { s := r.report(spider); return s != nil && ok(s) }) {
		r.fleet.t.Fatalf("the fleet never heard that %s; it heard %+v\n%s", what, r.report(spider), r.log)
	}
}

// confirms waits until a host runs a revision because of an entry.
func (r *running) confirms(rev *scheduler.Revision, version int64) {
	r.fleet.t.Helper()
	r.reports(rev.Spider, "revision "+rev.ID[:12]+" runs", func(s *scheduler.SpiderReport) bool {
		return s.Revision == rev.ID && s.Version == version && s.Error == ""
	})
}

// refuses waits until a host has refused an entry and still runs another revision.
func (r *running) refuses(goesOn *scheduler.Revision, version int64, because string) {
	r.fleet.t.Helper()
	r.reports(goesOn.Spider, "an entry was refused because of "+because, func(s *scheduler.SpiderReport) bool {
		return s.Revision == goesOn.ID && s.Version == version && strings.Contains(s.Error, because)
	})
}

func (r *running) says(text string) {
	r.fleet.t.Helper()
	if !poll(20*time.Second, func() bool { return strings.Contains(r.log.String(), text) }) {
		r.fleet.t.Fatalf("%q was never said:\n%s", text, r.log)
	}
}

func (f *fleet) eventually(what string, ok func() bool) {
	f.t.Helper()
	if !poll(20*time.Second, ok) {
		f.t.Fatalf("%s: never", what)
	}
}

// poll asks every few milliseconds until ok, and reports whether that came in time.
func poll(within time.Duration, ok func() bool) bool {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	timeout := time.After(within)
	for !ok() {
		select {
		case <-ticker.C:
		case <-timeout:
			return false
		}
	}
	return true
}
