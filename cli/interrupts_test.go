package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

func TestSignals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		signals := make(chan os.Signal)
		p := &program{System: System{Signals: signals}}
		i := p.interruptible(testLogs(&out))
		defer i.end()
		killed := 0
		i.onSecond(func() { killed++ })
		if err := i.verdict(nil, testLogs(&out)); err != nil {
			t.Errorf("without a signal: %v", err)
		}

		signals <- os.Interrupt
		<-i.ctx.Done()
		if killed > 0 {
			t.Error("the first signal killed")
		}
		signals <- os.Interrupt
		synctest.Wait()
		if killed != 1 {
			t.Error("the second signal did not kill")
		}
		if code := codeOf(i.verdict(context.Canceled, testLogs(&out))); code != exitInterrupted {
			t.Errorf("exit code %d", code)
		}
		if n := strings.Count(out.String(), "\n"); n != 1 {
			t.Errorf("it should say once that it stops:\n%s", out.String())
		}
	})
}

// A second signal that comes before there is a crawl to kill is not forgotten.
func TestSecondSignalBeforeTheCrawl(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		signals := make(chan os.Signal)
		i := (&program{System: System{Signals: signals}}).interruptible(testLogs(&out))
		defer i.end()
		signals <- os.Interrupt
		signals <- os.Interrupt
		synctest.Wait()
		killed := false
		i.onSecond(func() { killed = true })
		if !killed {
			t.Error("the crawl was not killed")
		}
	})
}

// What breaks while a run stops is said, and it still ends as interrupted; a failure of our own stays one.
func TestVerdict(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	i := (&program{}).interruptible(testLogs(&out))
	defer i.end()
	i.signal(testLogs(&out))
	if code := codeOf(i.verdict(errors.New("no last snapshot"), testLogs(&out))); code != exitInterrupted || !strings.Contains(out.String(), "no last snapshot") {
		t.Errorf("exit code %d:\n%s", code, out.String())
	}
	j := (&program{}).interruptible(testLogs(&out))
	defer j.end()
	full := errors.New("disk full")
	j.fail(full)
	if err := j.failure(); !errors.Is(err, full) || codeOf(j.verdict(err, testLogs(&out))) != exitFailed {
		t.Errorf("%v", err)
	}
}
