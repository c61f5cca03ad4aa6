package robots

import (
	"testing"
	"time"
)

func TestParseHeader(t *testing.T) {
	t.Parallel()
	when := time.Date(2025, 12, 3, 13, 9, 53, 0, time.UTC)
	none := Directives{NoIndex: true, NoFollow: true}
	for _, c := range []struct {
		values []string
		want   Directives
	}{
		{nil, Directives{}},
		{[]string{""}, Directives{}},
		{[]string{"noindex"}, Directives{NoIndex: true}},
		{[]string{" NoIndex ,nofollow"}, none},
		{[]string{"none"}, none},
		{[]string{"all, index, follow"}, Directives{}},
		{[]string{"noindex", "nofollow"}, none},
		{[]string{"noarchive, nosnippet"}, Directives{NoArchive: true}},
		{[]string{"Bot: noindex, nofollow"}, none},
		{[]string{"other: noindex, nofollow"}, Directives{}},
		{[]string{"noindex, other: nofollow"}, Directives{NoIndex: true}},
		{[]string{"other: nofollow, bot: noindex"}, Directives{NoIndex: true}},
		{[]string{"other: nofollow", "noindex"}, Directives{NoIndex: true}},
		{[]string{"max-snippet:-1, noindex"}, Directives{NoIndex: true}},
		{[]string{"unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, noindex"}, Directives{NoIndex: true, UnavailableAfter: when}},
		{[]string{"unavailable_after: 03 Dec 2025 05:09:53 PST"}, Directives{UnavailableAfter: when}},
		{[]string{"unavailable_after: 3-Dec-2025 13:09:53 GMT"}, Directives{UnavailableAfter: when}},
		{[]string{"unavailable_after: Wednesday, 03-Dec-25 13:09:53 GMT"}, Directives{UnavailableAfter: when}},
		{[]string{"unavailable_after: 2025-12-03T14:09:53+01:00"}, Directives{UnavailableAfter: when}},
		{[]string{"unavailable_after: 2025-12-03"}, Directives{UnavailableAfter: when.Truncate(24 * time.Hour)}},
		{[]string{"unavailable_after: never, nofollow"}, Directives{NoFollow: true}},
		{[]string{"unavailable_after:"}, Directives{}},
		{[]string{"other: unavailable_after: 2025-12-03"}, Directives{}},
		{[]string{"bot: unavailable_after: 2025-12-03"}, Directives{UnavailableAfter: when.Truncate(24 * time.Hour)}},
		{[]string{"unavailable_after: 2025-12-05", "unavailable_after: 2025-12-03"}, Directives{UnavailableAfter: when.Truncate(24 * time.Hour)}},
		{[]string{":::,,: \xff\x00,bot:bot:noindex"}, Directives{NoIndex: true}},
	} {
		if got := ParseHeader(c.values, "bot"); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.values, got, c.want)
		}
	}
}

func TestParseMeta(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content string
		want          Directives
	}{
		{"robots", "noindex,nofollow", Directives{NoIndex: true, NoFollow: true}},
		{" ROBOTS ", "NONE", Directives{NoIndex: true, NoFollow: true}},
		{"Bot", "nofollow", Directives{NoFollow: true}},
		{"googlebot", "noindex", Directives{}},
		{"robots", "bot: noindex", Directives{}},
		{"", "noindex", Directives{}},
		{"description", "noindex", Directives{}},
	} {
		if got := ParseMeta(c.name, c.content, "bot"); got != c.want {
			t.Errorf("%q %q: %+v, want %+v", c.name, c.content, got, c.want)
		}
	}
	if got := ParseMeta("", "noindex", ""); got != (Directives{}) {
		t.Errorf("a nameless element is read: %+v", got)
	}
}

func TestMayIndex(t *testing.T) {
	t.Parallel()
	end := time.Date(2025, 12, 3, 0, 0, 0, 0, time.UTC)
	d := Directives{UnavailableAfter: end}
	if !d.MayIndex(end.Add(-time.Second)) || d.MayIndex(end) || (Directives{NoIndex: true}).MayIndex(end) || !(Directives{}).MayIndex(end) {
		t.Error("unavailable_after does not decide by time")
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add("other: noindex, unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT")
	f.Fuzz(func(_ *testing.T, value string) {
		ParseHeader([]string{value}, "bot")
		ParseMeta("robots", value, "bot")
	})
}
