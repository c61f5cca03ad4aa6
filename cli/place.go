package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"luacrawl/scheduler"
	"luacrawl/scheduler/embedded"
)

// envRedis names the Redis when --redis does not.
const envRedis = "LUACRAWL_REDIS"

// envNamespace names the namespace when --namespace does not.
const envNamespace = "LUACRAWL_NAMESPACE"

// embeddedPort is where the embedded Redis is looked for by hand: redis-cli's own port, or the next free one.
const embeddedPort = 6379

// place is the Redis that a command works on: one named by --redis, or the embedded one of a folder.
type place struct {
	client    *scheduler.Client
	server    *embedded.Server // nil with --redis
	url       string
	namespace string
	dir       string // of the embedded one, "" when it is in memory
	stop      func() // ends the embedded one's loop
}

// placeFlags say which Redis a command works on.
func placeFlags() []cli.Flag {
	return append(redisFlags(), &cli.StringFlag{Name: "data", Value: ".luacrawl", Usage: "`FOLDER` of the embedded Redis, used without --redis"})
}

// redisFlags name a Redis that others use too.
func redisFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "redis", Usage: "the fleet's Redis as `URL`: redis://, rediss:// or unix://, with go-redis' parameters (?db=1&dial_timeout=3s) [$" + envRedis + "]"},
		&cli.DurationFlag{Name: "redis-wait", Value: 10 * time.Second, Usage: "how long to try a Redis that does not answer, as `TIME`"},
		&cli.StringFlag{Name: "namespace", Usage: "`NAME` of a team: it stands before all keys, so that teams on one Redis keep apart [$" + envNamespace + "]"},
	}
}

// where is which Redis the flags and the environment name.
type where struct {
	url, dir  string
	namespace string
	wait      time.Duration
}

func (p *program) where(c *cli.Context) where {
	return where{
		url: cmp.Or(c.String("redis"), p.getenv(envRedis)), dir: c.String("data"),
		namespace: cmp.Or(c.String("namespace"), p.getenv(envNamespace)), wait: c.Duration("redis-wait"),
	}
}

// open connects to the Redis; without a URL it serves the folder's, or joins who already does.
func (w where) open(ctx context.Context, l *logs) (*place, error) {
	if w.url != "" {
		return w.dial(ctx, &place{url: w.url}, l)
	}
	return w.embed(ctx, embeddedPort, l)
}

// embed serves the folder's Redis, in memory when there is no folder.
func (w where) embed(ctx context.Context, port int, l *logs) (*place, error) {
	server, err := embedded.Start(ctx, embedded.Options{Dir: w.dir, Port: port, Logger: l.Logger})
	if err != nil {
		return nil, err // it names the folder or the file
	}
	p := &place{server: server, url: server.URL(), dir: w.dir}
	loop, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it outlives an interrupt: the last commits still come
	ended := make(chan error, 1)
	go func() { ended <- server.Run(loop) }()
	p.stop = func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			l.Error("the embedded redis' snapshots have failed", "error", err)
		}
	}
	return w.dial(ctx, p, l)
}

// look connects for a command that only reads: a folder's snapshot is not touched.
func (w where) look(ctx context.Context, l *logs) (*place, error) {
	if w.url != "" {
		return w.open(ctx, l)
	}
	server, err := embedded.Find(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	return w.dial(ctx, &place{server: server, url: server.URL(), dir: w.dir}, l)
}

func (w where) dial(ctx context.Context, p *place, l *logs) (*place, error) {
	client, err := scheduler.Dial(ctx, scheduler.DialOptions{URL: p.url, Namespace: w.namespace, Wait: w.wait, Logger: l.Logger})
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.client, p.namespace = client, w.namespace
	return p, nil
}

// close ends the connections and takes the embedded one's last snapshot.
func (p *place) close() error {
	var errs []error
	if p.client != nil {
		errs = append(errs, p.client.Close())
	}
	if p.stop != nil {
		p.stop()
	}
	if p.server != nil {
		errs = append(errs, p.server.Close())
	}
	return errors.Join(errs...)
}

// embedded reports whether the Redis is luacrawl's own.
func (p *place) embedded() bool { return p.server != nil }

// joined reports whether another process serves the embedded Redis.
func (p *place) joined() bool { return p.server != nil && p.server.Joined() }

// String says where the Redis is, without a password.
func (p *place) String() string {
	switch {
	case !p.embedded():
		return redact(p.url)
	case p.joined():
		return fmt.Sprintf("the embedded Redis %s of the luacrawl that runs in %s", p.server.Addr(), p.dir)
	case p.dir == "":
		return fmt.Sprintf("embedded Redis %s, in memory", p.server.Addr())
	}
	return fmt.Sprintf("embedded Redis %s, snapshot in %s", p.server.Addr(), p.dir)
}

// redact returns a Redis URL without its password. One that cannot be read is not shown at all.
func redact(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(unreadable URL)"
	}
	if q := u.Query(); q.Has("password") {
		q.Set("password", "redacted")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// lpush is the command line by which a person gives a seed to a waiting run.
func (p *place) lpush(spider string, keys scheduler.Keys) string {
	return "redis-cli " + redisCLI(p.url) + "lpush " + startURLs(p.namespace, spider, keys) + " URL"
}

// startURLs is the seeds' key of a spider.
func startURLs(namespace, spider string, keys scheduler.Keys) string {
	if namespace != "" {
		spider = namespace + ":" + spider
	}
	return strings.ReplaceAll(cmp.Or(keys.StartURLs, "%(spider)s:start_urls"), "%(spider)s", spider)
}

// redisCLI are redis-cli's flags for a URL, each followed by a space. A password is asked for, not shown.
func redisCLI(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "-u URL "
	}
	var b strings.Builder
	db := strings.Trim(u.Path, "/")
	if u.Scheme == "unix" {
		fmt.Fprintf(&b, "-s %s ", u.Path)
		db = u.Query().Get("db")
	} else {
		if host := u.Hostname(); host != "" && host != "localhost" && !isLoopback(host) {
			fmt.Fprintf(&b, "-h %s ", host)
		}
		fmt.Fprintf(&b, "-p %s ", cmp.Or(u.Port(), "6379"))
	}
	if u.Scheme == "rediss" {
		b.WriteString("--tls ")
	}
	if name := u.User.Username(); name != "" {
		fmt.Fprintf(&b, "--user %s ", name)
	}
	if _, ok := u.User.Password(); ok {
		b.WriteString("--askpass ")
	}
	if db = cmp.Or(u.Query().Get("db"), db); db != "" && db != "0" {
		fmt.Fprintf(&b, "-n %s ", db)
	}
	return b.String()
}

// isLoopback reports whether redis-cli's own default, 127.0.0.1, is meant.
func isLoopback(host string) bool { return net.ParseIP(host).Equal(net.IPv4(127, 0, 0, 1)) }
