package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"luacrawl/engine"
)

func items(list ...string) []engine.Item {
	var all []engine.Item
	for _, s := range list {
		all = append(all, engine.Item(s))
	}
	return all
}

// writeOutput opens a file, maybe empties it, writes and closes.
func writeOutput(t *testing.T, name string, fresh bool, list ...string) {
	t.Helper()
	o, err := openOutput(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fresh {
		if err := o.empty(); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.write(items(list...)); err != nil {
		t.Fatal(err)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("the file has %q, want %q", got, want)
	}
}

func TestOutputAppendsUnlessFresh(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "items.jsonl")
	writeOutput(t, name, false, `{"a":1}`, `{"a":2}`)
	writeOutput(t, name, false, `{"a":3}`)
	wantFile(t, name, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n")
	writeOutput(t, name, true, `{"a":4}`)
	wantFile(t, name, "{\"a\":4}\n")
}

func TestOutputEndsATornLine(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "items.jsonl")
	if err := os.WriteFile(name, []byte("{\"a\":1}\n{\"a\""), 0o600); err != nil {
		t.Fatal(err)
	}
	writeOutput(t, name, false, `{"a":2}`)
	wantFile(t, name, "{\"a\":1}\n{\"a\"\n{\"a\":2}\n")
}

// shortWriter takes some bytes and fails, as a full disk does.
type shortWriter struct {
	*os.File
	room int
}

func (w shortWriter) Write(b []byte) (int, error) {
	n, err := w.File.Write(b[:min(len(b), w.room)])
	if err == nil && n < len(b) {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

func TestOutputLeavesNoHalfLine(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "items.jsonl")
	writeOutput(t, name, false, `{"a":1}`)
	o, err := openOutput(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.w = shortWriter{o.file, 5}
	first := o.write(items(`{"a":2}`))
	if first == nil {
		t.Fatal("no error")
	}
	wantFile(t, name, "{\"a\":1}\n")
	if again := o.write(items(`{"a":3}`)); again != first {
		t.Errorf("the second write: %v", again)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
}

func TestOutputToStandardOutput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o, err := openOutput("-", &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.empty(); err != nil {
		t.Fatal(err)
	}
	if err := o.write(items(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if out.String() != "{\"a\":1}\n" {
		t.Errorf("%q", out.String())
	}
}
