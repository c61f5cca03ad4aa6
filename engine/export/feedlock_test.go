package export

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestClaim: a feed is one's own from the claim to Unclaim or Close.
func TestClaim(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "items.jsonl")
	feed := func(name string) *fileFeed {
		sink, err := NewFeed(FeedConfig{Name: name, URI: path})
		if err != nil {
			t.Fatal(err)
		}
		return sink.(*fileFeed)
	}
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	wantTaken := func(err error) {
		t.Helper()
		var taken *TakenError
		if !errors.As(err, &taken) || !strings.Contains(err.Error(), `"second" and "first" of process`) {
			t.Errorf("got %v", err)
		}
	}
	first, second := feed("first"), feed("second")
	try(first.Claim())
	wantTaken(second.Claim())
	try(first.Unclaim())
	try(second.Claim())
	try(second.Close(t.Context())) // it was never open

	try(first.Claim())
	try(first.Open(t.Context()))
	wantTaken(second.Open(t.Context()))
	try(first.Unclaim()) // does nothing to one that is open
	write(t, first, records(0, 1))
	wantTaken(second.Claim())
	closeFeed(t, first)
	try(second.Open(t.Context()))
	write(t, second, records(1, 2))
	closeFeed(t, second)
	wantNumbers(t, path, 0, 2)
}
