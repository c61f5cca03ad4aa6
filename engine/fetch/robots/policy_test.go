package robots

import (
	"strings"
	"testing"
)

func TestFromResponse(t *testing.T) {
	t.Parallel()
	body := []byte("User-agent: *\nDisallow: /a\nSitemap: x\n")
	for _, c := range []struct {
		status      int
		a, b, close bool
	}{
		{200, false, true, false}, {203, false, true, false},
		{301, true, true, false}, {304, true, true, false},
		{400, true, true, false}, {401, true, true, false}, {403, true, true, false}, {404, true, true, false}, {410, true, true, false}, {451, true, true, false},
		{429, false, false, true}, {500, false, false, true}, {503, false, false, true}, {599, false, false, true},
		{0, false, false, true}, {100, false, false, true}, {-1, false, false, true}, {999, false, false, true},
	} {
		p := FromResponse(c.status, body)
		back, err := Load(p.Store("bot"), "Bot")
		if err != nil {
			t.Fatalf("%d: load: %v", c.status, err)
		}
		for _, p := range []Policy{p, back} {
			m := p.For("bot")
			if m.Allowed("/a") != c.a || m.Allowed("/b") != c.b || p.Unreachable() != c.close || p.Status() != c.status {
				t.Errorf("%d: /a is %v, /b is %v, unreachable %v, status %d", c.status, m.Allowed("/a"), m.Allowed("/b"), p.Unreachable(), p.Status())
			}
			if keep := p.Keep(); keep != KeepAnswer && !c.close || keep != KeepUnreachable && c.close {
				t.Errorf("%d: kept for %v", c.status, keep)
			}
			if n := len(p.Sitemaps()); (n == 1) != (c.status/100 == 2) {
				t.Errorf("%d: %d sitemaps", c.status, n)
			}
		}
	}
	if m := (Policy{}).For("bot"); !m.Allowed("/a") {
		t.Error("the zero policy forbids something")
	}
}

func TestStoreKeepsWhatConcernsOne(t *testing.T) {
	t.Parallel()
	p := FromResponse(200, []byte("User-agent: *\nDisallow: /\nUser-agent: x\nDisallow: /x\nUser-agent: Bot\nDisallow: /a\nAllow: /é*$\nCrawl-delay: 1.5\nCrawl-delay: 1\nSitemap: https://h/s\n"))
	want := "robots1 0 200 \"bot\"\nd/a\na/é*$\nc1500000000\nshttps://h/s\n"
	if got := string(p.Store("BOT")); got != want {
		t.Errorf("stored as\n%s, want\n%s", got, want)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"":                                     "no first line",
		"robots1 0 200 \"bot\"":                "no first line",
		"robots2 0 200 \"bot\"\n":              "begins with",
		"robots1 9 200 \"bot\"\n":              "begins with",
		"robots1 x 200 \"bot\"\n":              "begins with",
		"robots1 0 200\n":                      "begins with",
		"robots1 0 200 \"other\"\n":            `is for "other", not for "bot"`,
		"robots1 0 200 \"bot\"\nd/a":           "line 2 is not whole",
		"robots1 0 200 \"bot\"\nd/a\nd\n":      "line 3 is not whole",
		"robots1 0 200 \"bot\"\n\n":            "line 2 is not whole",
		"robots1 0 200 \"bot\"\nq/a\n":         `line 2 begins with 'q'`,
		"robots1 0 200 \"bot\"\nc-5\n":         "is not a delay",
		"robots1 0 200 \"bot\"\nclong\n":       "is not a delay",
		"\x00\xff\n\x00":                       "begins with",
		strings.Repeat("d/a\n", maxStored/4+1): "more than",
	} {
		if _, err := Load([]byte(data), "bot"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", data, err, want)
		}
	}
}
