package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"luacrawl/scheduler"
)

// fakeConsumer gives batches and notes what becomes of them. It is asked by one goroutine, but for Keep.
type fakeConsumer struct {
	batches []scheduler.Taken
	takeErr error // when there are no more batches
	backErr error
	kept    chan error // what the context of a sign of life says
	told    []string
}

func (f *fakeConsumer) Take(context.Context, int) (t scheduler.Taken, err error) {
	if len(f.batches) == 0 {
		return t, f.takeErr
	}
	t, f.batches = f.batches[0], f.batches[1:]
	return t, nil
}

func (f *fakeConsumer) Keep(ctx context.Context) error {
	select {
	case f.kept <- ctx.Err():
	case <-ctx.Done():
	}
	return nil
}

func (f *fakeConsumer) Done(ctx context.Context) (bool, error) {
	f.told = append(f.told, "done")
	return true, ctx.Err()
}

func (f *fakeConsumer) Back(context.Context) (int, error) {
	f.told = append(f.told, "back")
	return 1, f.backErr
}

func (f *fakeConsumer) Every() time.Duration { return time.Millisecond }
func (f *fakeConsumer) Hold() time.Duration  { return time.Second }

func newConsumption(f *fakeConsumer, work func(context.Context, []string) error) *consumption {
	silent := &logs{Logger: slog.New(slog.DiscardHandler), out: io.Discard, quiet: true}
	return &consumption{target: &target{logs: silent}, consumer: f, batch: 1, work: work, patience: time.Minute}
}

func TestConsumption(t *testing.T) {
	t.Parallel()
	full, broken := errors.New("redis is full"), errors.New("broken")
	one, lost := scheduler.Taken{Items: []string{"1"}}, scheduler.Taken{Lost: 2}
	for name, c := range map[string]struct {
		fake fakeConsumer
		work error
		told string
		err  error
	}{
		"all is done":                       {fakeConsumer{batches: []scheduler.Taken{one, one}}, nil, "done done", nil},
		"a batch of trimmed entries alone":  {fakeConsumer{batches: []scheduler.Taken{lost, one}}, nil, "done", nil},
		"the work fails":                    {fakeConsumer{batches: []scheduler.Taken{one, one}}, broken, "back", broken},
		"the reader has gone":               {fakeConsumer{batches: []scheduler.Taken{one, one}}, syscall.EPIPE, "back", nil},
		"it has gone, and redis too":        {fakeConsumer{batches: []scheduler.Taken{one}, backErr: full}, syscall.EPIPE, "back", full},
		"nothing can be taken":              {fakeConsumer{takeErr: full}, nil, "back", full},
		"nothing can be taken nor returned": {fakeConsumer{takeErr: full, backErr: broken}, nil, "back", full},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newConsumption(&c.fake, func(context.Context, []string) error { return c.work })
			err := w.run(t.Context())
			if got := strings.Join(c.fake.told, " "); got != c.told || !errors.Is(err, c.err) {
				t.Errorf("told %q, want %q; error %v, want %v", got, c.told, err, c.err)
			}
		})
	}
}

// A command that goes on for longer after an interrupt than Redis is waited for keeps its items, and they are done when it has ended.
func TestWorkOutlastsTheInterrupt(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	f := &fakeConsumer{batches: []scheduler.Taken{{Items: []string{"1"}}}, kept: make(chan error)}
	w := newConsumption(f, func(context.Context, []string) error {
		interrupt()
		for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
			select {
			case err := <-f.kept:
				if err != nil {
					t.Errorf("a sign of life after the interrupt: %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Error("no sign of life after the interrupt")
				return nil
			}
		}
		return nil
	})
	w.patience = 20 * time.Millisecond
	if err := w.run(ctx); !errors.Is(err, context.Canceled) || w.done != 1 || !slices.Equal(f.told, []string{"done"}) {
		t.Errorf("error %v, %d done, told %q", err, w.done, f.told)
	}
}
