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
		if answered, ok := d.try(); !ok {
			t.Fatal("a store that takes files was not to be used")
		} else {
			answered()
		}
	}
	d.begun(l, "s3://pages", "it is away")
	d.begun(l, "s3://pages", "it is away")
	answered, ok := d.try()
	if !ok {
		t.Fatal("nobody may look whether it is back")
	}
	if _, ok := d.try(); ok {
		t.Error("two look at once")
	}
	answered()
	second, ok := d.try()
	if !ok {
		t.Fatal("nobody may look again")
	}
	answered() // once more: it is no longer its turn
	if _, ok := d.try(); ok {
		t.Error("one that had its turn has ended another's")
	}
	d.over(l)
	second()
	if _, ok := d.try(); !ok {
		t.Error("it takes files again, and nobody may use it")
	}
	d.over(l)
	if text := log.String(); strings.Count(text, "takes nothing") != 1 || strings.Count(text, "takes them again") != 1 {
		t.Errorf("said:\n%s", text)
	}
}
