package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"luacrawl/scheduler"
)

func TestLike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"tag", "http://a.test/tag/1", true},
		{"tag?x=[", "http://a.test/tag?x=[", true},
		{"nope", "http://a.test/tag/1", false},
		{"http://a.test/*", "http://a.test/tag/1", true},
		{"*/tag/*", "http://a.test/tag/1", true},
		{"*/tag/", "http://a.test/tag/1", false},
		{"a*a", "a", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*c*b", "a-b-c", false},
		{"*", "", true},
		{"**", "x", true},
		{"", "x", true},
	} {
		if got := like(c.pattern, c.text); got != c.want {
			t.Errorf("%q like %q: %v", c.text, c.pattern, got)
		}
	}
}

func TestLetterFilter(t *testing.T) {
	t.Parallel()
	page := scheduler.Letter{Index: 3, ID: "0123456789ab", DeadLetter: scheduler.DeadLetter{
		Kind: scheduler.DeadRequest, Reason: "download_error", URL: "http://a.test/x", Revision: "abcdef"}}
	seed := scheduler.Letter{Index: 4, DeadLetter: scheduler.DeadLetter{Kind: scheduler.DeadSeed, SeedB64: []byte("a seed")}}
	foreign := scheduler.Letter{Index: 5, Err: errors.New("junk")}
	for name, c := range map[string]struct {
		f    letterFilter
		want [3]bool
	}{
		"none":     {letterFilter{}, [3]bool{true, true, true}},
		"index":    {letterFilter{indices: []string{"4", "5"}}, [3]bool{false, true, true}},
		"id":       {letterFilter{ids: []string{"0123456789ab"}}, [3]bool{true, false, false}},
		"kind":     {letterFilter{kind: "seed"}, [3]bool{false, true, false}},
		"callback": {letterFilter{callback: "parse"}, [3]bool{true, false, false}},
		"revision": {letterFilter{revision: "abc"}, [3]bool{true, false, false}},
		"url":      {letterFilter{url: "seed"}, [3]bool{false, true, false}},
		"both":     {letterFilter{reason: "download_error", url: "nope"}, [3]bool{}},
	} {
		if got := [3]bool{c.f.match(&page), c.f.match(&seed), c.f.match(&foreign)}; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for answer, ok := range map[string]bool{"y\n": true, " YES \r\n": true, "y": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		p := &program{System: System{Streams: Streams{In: strings.NewReader(answer)}}, screen: newScreen(&strings.Builder{}, nil)}
		if err := p.confirm(t.Context(), "go on?"); (err == nil) != ok || err != nil && !errors.Is(err, errNotConfirmed) {
			t.Errorf("%q: %v", answer, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &program{System: System{Streams: Streams{In: blocked{}}}, screen: newScreen(&strings.Builder{}, nil)}
	if err := p.confirm(ctx, "go on?"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// blocked is a terminal at which nobody types.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }
