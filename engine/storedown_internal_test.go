package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// While a store takes nothing, one page at a time tries it; the others go back at once.
func TestStoreThatIsDownIsTriedByOne(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l, d := slog.New(slog.NewTextHandler(&log, nil)), &storeDown{}
	for range 2 {
		if d.try() == nil {
			t.Fatal("a store that takes files was not to be used")
		}
	}
	d.try().failed(l, "s3://pages", "it is away")
	use := d.try()
	if use == nil {
		t.Fatal("nobody may look whether it is back")
	}
	if d.try() != nil {
		t.Error("two look at once")
	}
	use.answered()
	second := d.try()
	if second == nil {
		t.Fatal("nobody may look again")
	}
	use.answered() // once more: it is no longer its turn
	if d.try() != nil {
		t.Error("one that had its turn has ended another's")
	}
	second.worked(l)
	second.answered()
	if d.try() == nil {
		t.Error("it takes files again, and nobody may use it")
	}
	second.worked(l)
	if text := log.String(); strings.Count(text, "takes nothing") != 1 || strings.Count(text, "takes them again") != 1 {
		t.Errorf("said:\n%s", text)
	}
}

// What was under way when a store went down or came back is late: it says nothing of how the store is now.
func TestLateAnswersOfAStore(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l, d := slog.New(slog.NewTextHandler(&log, nil)), &storeDown{}
	first, second, third := d.try(), d.try(), d.try()
	if !first.failed(l, "s3://pages", "it is away") {
		t.Fatal("it is not down")
	}
	second.worked(l) // sent before that
	if third := d.try(); third == nil {
		t.Fatal("nobody may look whether it is back")
	} else {
		third.worked(l)
		third.answered()
	}
	if third.failed(l, "s3://pages", "it is away") {
		t.Error("a failure from before it came back counts")
	}
	if text := log.String(); strings.Count(text, "takes nothing") != 1 || strings.Count(text, "takes them again") != 1 {
		t.Errorf("said:\n%s", text)
	}
}
