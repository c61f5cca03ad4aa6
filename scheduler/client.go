package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Client is a connection to one Redis. It may be used by any number of goroutines.
type Client struct {
	rdb       *redis.Client
	name      string // the server as it may be shown: without user and password
	namespace string // "" for none
	logger    *slog.Logger

	mu      sync.Mutex
	down    time.Time // since when Redis has not answered; guarded by mu
	waiting int       // calls that wait for it to answer; guarded by mu
	outage  outage    // what the log says of it; guarded by mu
}

// Close ends all connections.
func (c *Client) Close() error {
	c.mu.Lock()
	c.outage.end(c.logger, c.name)
	c.mu.Unlock()
	return c.rdb.Close()
}

// Namespace is the client's, "" for none.
func (c *Client) Namespace() string { return c.namespace }

// Name is the server as it may be shown: address and database, never user or password.
func (c *Client) Name() string { return c.name }

// Down says since when Redis has not answered; zero when it does.
func (c *Client) Down() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.down
}

// Ping asks Redis once whether it answers. The error says why it does not.
func (c *Client) Ping(ctx context.Context) error {
	if err := c.rdb.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("redis %s does not answer: %w", c.name, err)
	}
	return nil
}

// try calls fn until it succeeds, fails in a way that waiting does not help, or ctx ends. Redis being down, loading, read-only
// or full is waited for: it is said once when it goes and once when it is back.
func (c *Client) try(ctx context.Context, fn func() error) error {
	return c.tryWhile(ctx, passes, fn)
}

func (c *Client) tryWhile(ctx context.Context, again func(error) bool, fn func() error) (err error) {
	waits := false
	defer func() { c.ended(waits, err == nil) }()
	for wait := newBackoff(); ; {
		err := fn()
		if err == nil {
			return nil
		}
		if noScript(err) && loadScripts(ctx, c.rdb) == nil && wait.fresh() {
			wait.next()
			continue
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", c.name, ctx.Err())
		}
		if !again(err) {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		c.fell(err, waits)
		waits = true
		if !sleep(ctx, wait.next()) {
			return fmt.Errorf("%s: %w (last error: %w)", c.name, ctx.Err(), err)
		}
	}
}

// fell notes that a call has failed and waits.
func (c *Client) fell(err error, waits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !waits {
		c.waiting++
	}
	now := time.Now()
	if c.down.IsZero() {
		c.down = now
	}
	c.outage.fell(now, c.logger, c.name, err)
}

// ended notes that a call is over. Redis is back when one succeeds and none waits: one that is out of memory answers reads all the time.
func (c *Client) ended(waited, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if waited {
		c.waiting--
	}
	if ok && c.waiting == 0 {
		c.down = time.Time{}
		c.outage.rose(time.Now(), c.logger, c.name)
	}
}

// explain names the key behind a WRONGTYPE error, which Redis does not.
func (c *Client) explain(ctx context.Context, k keyset, err error) error {
	if err == nil || !wrongType(err) {
		return err
	}
	if got, e := c.rdb.Type(ctx, k.startURLs).Result(); e == nil && !slices.Contains([]string{"none", "list", "set", "zset"}, got) {
		return &wrongTypeError{key: k.startURLs, got: got, want: "a list, set or zset"}
	}
	for key, want := range k.types() {
		got, e := c.rdb.Type(ctx, key).Result()
		if e == nil && got != "none" && !slices.Contains(strings.Split(want, " or "), got) {
			return &wrongTypeError{key: key, got: got, want: "a " + want}
		}
	}
	return fmt.Errorf("%w: %w", ErrWrongType, err)
}

// ErrWrongType says that one of a crawl's keys is in use for something else.
var ErrWrongType = errors.New("a key of the crawl holds another type")

// wrongTypeError is an ErrWrongType that names the key.
type wrongTypeError struct {
	key, got, want string
	remedy         string // what to do in place of renaming or deleting the key; "" for that
}

func (e *wrongTypeError) Error() string {
	if e.remedy != "" {
		return fmt.Sprintf("%s holds a %s, %s", e.key, e.got, e.remedy)
	}
	return fmt.Sprintf("%s holds a %s, not %s: rename or delete it, or set another key name", e.key, e.got, e.want)
}

func (e *wrongTypeError) Is(target error) bool { return target == ErrWrongType }

// backoff waits 50 ms at first, doubling to 1 s, each time between half and all of that.
type backoff struct{ base time.Duration }

func newBackoff() backoff { return backoff{} }

func (b *backoff) fresh() bool { return b.base == 0 }

func (b *backoff) next() time.Duration {
	b.base = min(max(2*b.base, 50*time.Millisecond), time.Second)
	return b.base/2 + rand.N(b.base/2)
}

// sleep waits for d and reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
