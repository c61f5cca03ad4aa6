package weburl

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

type link struct {
	Base, Link string
	Resolved   *string // nil: not a URL
}

type request struct{ URL, Canonical string }

// rows reads a file of shared right answers, one JSON object a line.
func rows[T any](t testing.TB, file string) []T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for line := range bytes.Lines(data) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s: %v in %s", file, err, line)
		}
		all = append(all, row)
	}
	if len(all) < 30 {
		t.Fatalf("%s has only %d rows", file, len(all))
	}
	return all
}

func TestResolveAsBrowsers(t *testing.T) {
	t.Parallel()
	for _, row := range rows[link](t, "links.jsonl") {
		base, err := ParseBase(row.Base)
		if err != nil {
			t.Fatal(err)
		}
		got, err := base.Resolve(row.Link)
		switch {
		case row.Resolved == nil && err == nil:
			t.Errorf("Resolve(%q) = %q, want an error", row.Link, got)
		case row.Resolved != nil && (err != nil || got != *row.Resolved):
			t.Errorf("Resolve(%q) = %q, %v, want %q", row.Link, got, err, *row.Resolved)
		}
	}
}

func TestCanonicalizeAsW3lib(t *testing.T) {
	t.Parallel()
	for _, row := range rows[request](t, "fingerprint.jsonl") {
		if got := Canonicalize(row.URL); got != row.Canonical {
			t.Errorf("Canonicalize(%q) = %q, want %q", row.URL, got, row.Canonical)
		}
	}
}
