package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"luacrawl/scheduler"
)

const jarPage = "http://e.test/"

func newTestJars() (*cookieJars, *bytes.Buffer) {
	var log bytes.Buffer
	return newCookieJars(slog.New(slog.NewTextHandler(&log, nil))), &log
}

func sent(c *cookieJars, jar string) string {
	header, _, _ := c.outgoing(jar, &scheduler.Request{URL: jarPage})
	return header
}

// TestCookiesThatRedisHoldsWrongly: somebody has written there by hand. They are named, without their values, and the others count.
func TestCookiesThatRedisHoldsWrongly(t *testing.T) {
	t.Parallel()
	from, _ := newTestJars()
	good, _ := from.incoming("j", jarPage, []string{"a=1"})
	c, log := newTestJars()
	c.learn(scheduler.CookieNews{All: true, Changes: append(good,
		scheduler.CookieChange{Jar: "j", Key: "e.test;/;b", Value: "sesame"}, scheduler.CookieChange{Jar: "j", Key: "e.test;/;c", Value: good[0].Value},
		scheduler.CookieChange{Jar: "j", Key: "none", Value: `{"n":"x","v":"sesame","d":"com","p":"/"}`}, scheduler.CookieChange{Jar: "x", Key: "none"},
	)})
	if got := sent(c, "j"); got != "a=1" {
		t.Errorf("sent %q", got)
	}
	if s := log.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "cookies=3") || !strings.Contains(s, `e.test;/;b`) || strings.Contains(s, "sesame") {
		t.Errorf("log: %s", s)
	}
	if len(c.jars) != 1 {
		t.Errorf("%d jars", len(c.jars))
	}
}

// TestCookiesEndByRedisClock, which is an hour ahead here: a cookie ends on all hosts at once.
func TestCookiesEndByRedisClock(t *testing.T) {
	t.Parallel()
	c, _ := newTestJars()
	c.setClock(time.Now().Add(time.Hour))
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
	c.incoming("", jarPage, []string{"short=1; Expires=" + in(30*time.Minute), "long=1; Expires=" + in(90*time.Minute), "age=1; Max-Age=60"})
	if got := sent(c, ""); got != "long=1; age=1" {
		t.Errorf("sent %q", got)
	}
	c.setClock(time.Now().Add(time.Hour + 2*time.Minute))
	if got := sent(c, ""); got != "long=1" {
		t.Errorf("two minutes later sent %q", got)
	}
}

// TestUseOfACookieIsAChangeOnceAnHour: what is used stays when there are too many, and not every page writes.
func TestUseOfACookieIsAChangeOnceAnHour(t *testing.T) {
	t.Parallel()
	c, _ := newTestJars()
	c.incoming("", jarPage, []string{"a=1"})
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{59 * time.Minute, 0}, {61 * time.Minute, 1}, {62 * time.Minute, 0}} {
		c.setClock(time.Now().Add(step.after))
		if _, changes, _ := c.outgoing("", &scheduler.Request{URL: jarPage}); len(changes) != step.want {
			t.Errorf("after %s: %d changes", step.after, len(changes))
		}
	}
}

// TestTooManyCopiesAreReadAnew: Redis keeps fewer and does not say which it drops.
func TestTooManyCopiesAreReadAnew(t *testing.T) {
	t.Parallel()
	from, _ := newTestJars()
	one, _ := from.incoming("", jarPage, []string{"a=1"})
	var news scheduler.CookieNews
	for i := range mostCookies + 1 {
		news.Changes = append(news.Changes, scheduler.CookieChange{Jar: fmt.Sprint(i), Key: one[0].Key, Value: one[0].Value})
	}
	c, _ := newTestJars()
	c.learn(scheduler.CookieNews{Changes: news.Changes[:mostCookies]})
	if c.unsure.Load() {
		t.Error("as many as there may be are read anew")
	}
	c.learn(scheduler.CookieNews{Changes: news.Changes[mostCookies:]})
	if !c.unsure.Load() {
		t.Error("too many are kept")
	}
}
