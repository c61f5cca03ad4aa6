package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// DialOptions say which Redis to use.
type DialOptions struct {
	// URL is redis://[user:password@]host:port/db, rediss:// for TLS, or unix://[user:password@]/path?db=N. Its parameters are
	// go-redis': dial_timeout, read_timeout, write_timeout (such as 5s), pool_size, skip_verify and the like. A character of a
	// password that means something in a URL is percent-encoded.
	URL    string
	Wait   time.Duration // how long to try a server that does not answer
	Logger *slog.Logger  // nil means none

	// Namespace keeps teams on one Redis apart: it stands before the name of every key. The names are those of spiders; "" is none.
	Namespace string
}

// nameForm is what namespaces and, in the registry, spiders are called.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// ErrEvicts says that a Redis may throw away keys of ours when it is full.
var ErrEvicts = errors.New("redis evicts keys")

// ErrURL says that a Redis' URL cannot be read.
var ErrURL = errors.New("redis URL")

// Dial connects to a Redis and checks that it may be used. A server that does not answer or is still loading is tried for Wait; a refused
// user or password and a wrong URL are errors at once, and so is ErrEvicts. No error holds a password.
func Dial(ctx context.Context, o DialOptions) (*Client, error) {
	if o.Namespace != "" && !nameForm.MatchString(o.Namespace) {
		return nil, fmt.Errorf("namespace %.100q: it is 1 to 64 of the characters A-Z a-z 0-9 _ . -", o.Namespace)
	}
	opt, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	silence()
	c := &Client{rdb: redis.NewClient(opt), name: serverName(opt), namespace: o.Namespace, logger: o.Logger}
	if err := c.greet(ctx, o.Wait); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// greet waits for the server, then checks its policy and loads the scripts.
func (c *Client) greet(ctx context.Context, wait time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, max(wait, time.Second))
	defer cancel()
	again := func(err error) bool { return passes(err) && !denied(err) && !certain(err) }
	last := errors.New("no reply")
	err := c.tryWhile(limited, again, func() error {
		err := c.rdb.Ping(limited).Err()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			last = err
		}
		return err
	})
	switch {
	case err == nil:
	case denied(err):
		return fmt.Errorf("redis refuses the user or password: %w; they belong in the URL, as in redis://user:password@host:6379/0", err)
	case ctx.Err() == nil && limited.Err() != nil:
		return fmt.Errorf("redis did not answer within %s: %s: %w; is it running, and are host and port right?", max(wait, time.Second), c.name, last)
	case ctx.Err() == nil && !certain(err):
		return fmt.Errorf("%w; is there another program than redis at this address?", err)
	default:
		return fmt.Errorf("connecting to redis: %w", err)
	}
	if err := c.checkPolicy(ctx); err != nil {
		return err
	}
	return c.try(limited, func() error { return loadScripts(limited, c.rdb) })
}

// certain reports a failure to connect that the next try would repeat.
func certain(err error) bool {
	text := err.Error()
	return strings.Contains(text, "x509:") || strings.Contains(text, "first record does not look like a TLS handshake")
}

// checkPolicy refuses a server that would evict our keys, none of which has a time to live: the allkeys policies.
// Managed servers that hide CONFIG show the policy in INFO; one that hides both is trusted.
func (c *Client) checkPolicy(ctx context.Context) error {
	policy := ""
	if got, err := c.rdb.ConfigGet(ctx, "maxmemory-policy").Result(); err == nil {
		policy = got["maxmemory-policy"]
	} else if info, err := c.rdb.Info(ctx, "memory").Result(); err == nil {
		_, rest, _ := strings.Cut(info, "maxmemory_policy:")
		policy, _, _ = strings.Cut(rest, "\r\n")
	}
	if strings.HasPrefix(policy, "allkeys-") {
		return fmt.Errorf("%w: %s has maxmemory-policy %s and would lose requests when it is full: set it to noeviction (CONFIG SET maxmemory-policy noeviction)",
			ErrEvicts, c.name, policy)
	}
	return nil
}

// parseURL reads a Redis URL. go-redis' own retries are off: they make a write whose reply was lost run twice, unseen.
func parseURL(raw string) (*redis.Options, error) {
	opt, err := redis.ParseURL(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrURL, urlFault(raw, err))
	}
	opt.MaxRetries = -1
	opt.DialerRetries = 1
	opt.Protocol = 2
	opt.DisableIdentity = true
	opt.ContextTimeoutEnabled = true
	opt.PipelinePoolSize = -1
	if opt.WriteBufferSize == 0 {
		opt.WriteBufferSize = 128 << 10 // a commit and the lease behind it in one write: 64 outcomes are about 35 KB
	}
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return opt, nil
}

// urlFault says what is wrong with a URL, without a word of it when it holds a user or a password, or might.
func urlFault(raw string, err error) string {
	u, parseErr := url.Parse(raw)
	scheme, rest, found := strings.Cut(raw, "://")
	switch {
	case !found || (scheme != "redis" && scheme != "rediss" && scheme != "unix"):
		return "it begins with redis://, rediss:// or unix://"
	case strings.Contains(rest, "@") && (parseErr != nil || strings.ContainsAny(u.Path+u.RawQuery+u.Fragment, "@")):
		return "it cannot be read; percent-encode the characters / ? # @ % : of a password"
	case strings.Contains(rest, "@"):
		return "after the @: " + strings.TrimPrefix(err.Error(), "redis: ")
	}
	return strings.TrimPrefix(err.Error(), "redis: ")
}

// serverName is what may be shown of a server.
func serverName(opt *redis.Options) string {
	scheme := "redis"
	switch {
	case opt.Network == "unix":
		return fmt.Sprintf("unix://%s?db=%d", opt.Addr, opt.DB)
	case opt.TLSConfig != nil:
		scheme = "rediss"
	}
	return fmt.Sprintf("%s://%s/%d", scheme, opt.Addr, opt.DB)
}

// silence turns off go-redis' own log, which writes to stderr past our logger.
var silence = sync.OnceFunc(func() { redis.SetLogger(quiet{}) })

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
