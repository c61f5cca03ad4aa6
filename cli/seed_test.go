package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// feed gives a program n lines of standard input.
func feed(n int, more string) *program {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "http://a.example/%d\r\n\n", i)
	}
	return &program{System: System{Streams: Streams{In: strings.NewReader(b.String() + more)}}}
}

func TestPushAllBatches(t *testing.T) {
	t.Parallel()
	var sizes []int
	n, err := pushAll(feed(2500, "last").lines(), func(b [][]byte) (int, error) {
		sizes = append(sizes, len(b))
		return len(b), nil
	})
	if err != nil || n != 2501 || fmt.Sprint(sizes) != "[1000 1000 501]" {
		t.Errorf("%d in %v: %v", n, sizes, err)
	}
}

func TestPushAllCountsWhatWasTaken(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	calls := 0
	n, err := pushAll(feed(2500, "").lines(), func(b [][]byte) (int, error) {
		if calls++; calls == 2 {
			return 0, down
		}
		return len(b), nil
	})
	if n != 1000 || !errors.Is(err, down) {
		t.Errorf("%d: %v", n, err)
	}
}

func TestLineThatIsTooLong(t *testing.T) {
	t.Parallel()
	n, err := pushAll(feed(3, strings.Repeat("x", maxLine+1)).lines(), func(b [][]byte) (int, error) { return len(b), nil })
	if n != 3 || err == nil || !strings.Contains(err.Error(), "standard input, line 7") {
		t.Errorf("%d: %v", n, err)
	}
}
