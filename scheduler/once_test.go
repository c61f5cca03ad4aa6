package scheduler

import (
	"slices"
	"testing"
)

// TestOnceLease: what a start URL gave is stored once a crawl, whoever brings it, and again after a flush.
func TestOnceLease(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		other := k.join()
		give := func(f *Frontier, seeds ...string) []bool {
			t.Helper()
			var outcomes []*Outcome
			for _, s := range seeds {
				outcomes = append(outcomes, &Outcome{
					Lease: OnceLease([]byte(s)), Items: [][]byte{[]byte("{}")}, Stats: map[string]int64{"pages": 1},
					Dead: []DeadLetter{{Kind: DeadItem, Reason: ReasonProcessItem}},
				})
			}
			_, stored, err := f.Enqueue(k.ctx, []Child{get("1")}, outcomes...)
			if err != nil {
				t.Fatal(err)
			}
			return stored
		}
		for i, step := range []struct {
			by     *Frontier
			seeds  []string
			stored []bool
			items  int64
		}{
			{k.Frontier, []string{"a", "b", "a"}, []bool{true, true, false}, 2},
			{k.Frontier, []string{"a"}, []bool{false}, 2},
			{other, []string{"c", "b"}, []bool{true, false}, 3},
			{other, nil, nil, 3},
		} {
			got := give(step.by, step.seeds...)
			for j, want := range step.stored {
				if got[j] != want {
					t.Errorf("step %d: stored %v, want %v", i, got, step.stored)
				}
			}
			if s := k.check(); s.Items != step.items || s.DeadLetters != step.items || s.Stats["pages"] != step.items || s.Dead != 0 || s.Pending != 1 || s.Enqueued != 1 {
				t.Errorf("step %d: %+v", i, s)
			}
		}
		if got, err := other.StoredOnce(k.ctx, []Lease{OnceLease([]byte("a")), OnceLease([]byte("d"))}); err != nil || !slices.Equal(got, []bool{true, false}) {
			t.Errorf("stored once: %v, %v", got, err)
		}
		if err := k.client.Flush(k.ctx, k.cfg.Spider, k.cfg.Keys, FlushOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if got := give(k.Frontier, "a"); !got[0] {
			t.Error("not stored after a flush")
		}
	})
}
