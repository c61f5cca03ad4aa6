package scheduler

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSlotName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 129)
	for in, want := range map[string]string{
		"":                       "-",
		"a.test:8080":            "a.test:8080",
		strings.Repeat("a", 128): strings.Repeat("a", 128),
		long:                     strings.Repeat("a", 111) + "~" + "d96debf1bdcbc896",
		strings.Repeat("b", 300): strings.Repeat("b", 111) + "~",
		"a\nb":                   "a~fcd127ffa1016069",
		"@seeds":                 "seeds~",
		"\x00":                   "~",
		"caf\xff":                "caf~",
	} {
		got := slotName(in)
		if !strings.HasPrefix(got, want) || len(got) > maxSlot || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if slotName(strings.Repeat("é", 100)) == slotName(strings.Repeat("é", 101)) {
		t.Error("long names with the same start share a slot")
	}
}

func TestSlotOfURL(t *testing.T) {
	t.Parallel()
	const u = "https://news.a.example.co.uk:8443/x"
	for p, want := range map[Partition]string{
		PartitionHost: "news.a.example.co.uk:8443", PartitionDomain: "example.co.uk", PartitionNone: "",
	} {
		if got := p.slot(u); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	k := Keys{}.of("hot")
	if k.requests != "hot:requests" || k.queue("a.test") != "hot:requests:a.test" || k.queue("") != "hot:requests" || k.meta != "hot:meta" {
		t.Errorf("%+v", k)
	}
	k = Keys{Requests: "q_%(spider)s", Dupefilter: "shared", Cluster: true}.of("hot")
	if k.requests != "q_{hot}" || k.dupefilter != "shared" || k.leases != "{hot}:leases" || k.startURLs != "{hot}:start_urls" {
		t.Errorf("%+v", k)
	}
	if n := len(k.list()); n != 20 {
		t.Errorf("%d KEYS", n)
	}
}
