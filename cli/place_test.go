package cli

import (
	"strings"
	"testing"

	"luacrawl/scheduler"
)

func TestLpush(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ url, want string }{
		{"redis://127.0.0.1:6380", "redis-cli -p 6380 lpush blog:start_urls URL"},
		{"redis://localhost", "redis-cli -p 6379 lpush blog:start_urls URL"},
		{"redis://10.0.0.5:6379/3", "redis-cli -h 10.0.0.5 -p 6379 -n 3 lpush blog:start_urls URL"},
		{"redis://10.0.0.5?db=2", "redis-cli -h 10.0.0.5 -p 6379 -n 2 lpush blog:start_urls URL"},
		{"rediss://user:secret@h:1", "redis-cli -h h -p 1 --tls --user user --askpass lpush blog:start_urls URL"},
		{"redis://:secret@h:1/0", "redis-cli -h h -p 1 --askpass lpush blog:start_urls URL"},
		{"unix:///run/redis.sock?db=1", "redis-cli -s /run/redis.sock -n 1 lpush blog:start_urls URL"},
		{"redis://[::1]:7000", "redis-cli -h ::1 -p 7000 lpush blog:start_urls URL"},
	} {
		if got := (&place{url: test.url}).lpush("blog", scheduler.Keys{}); got != test.want {
			t.Errorf("%s: %s, want %s", test.url, got, test.want)
		}
	}
	if got := (&place{url: "redis://127.0.0.1"}).lpush("blog", scheduler.Keys{StartURLs: "in:%(spider)s"}); !strings.Contains(got, " lpush in:blog URL") {
		t.Error(got)
	}
}

func TestPasswordIsNeverShown(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"redis://user:secret@h:1/0", "redis://:secret@h", "rediss://h?password=secret&db=1", "redis://:secret%zz@h", "redis://u:secret@h:port/",
	} {
		p := &place{url: raw}
		if shown := p.String() + p.lpush("blog", scheduler.Keys{}); strings.Contains(shown, "secret") {
			t.Errorf("%s is shown as %s", raw, shown)
		}
	}
}

func TestWhereComesFromFlagThenEnvironment(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"run x.lua", "redis://env"},
		{"run x.lua --redis redis://flag", "redis://flag"},
	} {
		p, _, _ := newProgram("LUACRAWL_REDIS=redis://old", "LUACRAWL_REDIS=redis://env", "OTHER=x")
		if got := parsed(t, p, test.args, p.where); got.url != test.want || got.dir != ".luacrawl" {
			t.Errorf("%s: %+v", test.args, got)
		}
	}
}
