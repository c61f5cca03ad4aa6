package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func z(score float64, member string) redis.Z { return redis.Z{Score: score, Member: member} }

// full is an outcome that would change every key.
func full(l Lease) *Outcome {
	return &Outcome{
		Lease: l, Items: [][]byte{[]byte("{}")}, Children: []Child{get("late/" + l.ID)}, Hold: time.Hour,
		Dead: []DeadLetter{{Kind: DeadItem, Reason: ReasonProcessItem}}, Stats: map[string]int64{"pages": 1},
	}
}

func TestStaleOutcomeStoresNothing(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		old := k.lease(1)[0]
		k.expire(old)
		held := k.lease(2) // the first has come back
		before := k.check()
		x := k.exchange(k.Frontier, []*Outcome{full(old), full(held[1])}, 0, 0)
		if x.Stored[0] || !x.Stored[1] {
			t.Fatalf("stored %v", x.Stored)
		}
		s := k.check()
		if s.Items != before.Items+1 || s.DeadLetters != before.DeadLetters+1 || s.Seen != before.Seen+1 || s.Stats["pages"] != 1 || s.Pending != 1 {
			t.Errorf("%+v\nbefore %+v", s, before)
		}
		if k.seen.has(get("late/" + old.ID).Request.seenKey()) {
			t.Error("a child of a stale outcome entered the cache")
		}
	})
}

func TestFenceIsTheRequestToo(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		l := k.lease(2)
		mixed := Lease{ID: redisID(l[0].ID) + "/" + strings.Split(l[1].ID, "/")[1]}
		if x := k.exchange(k.Frontier, []*Outcome{{Lease: mixed}}, 0, 0); x.Stored[0] {
			t.Error("an outcome was stored under the lease of another request")
		}
	})
}

func TestTheSameLeaseTwiceInACommit(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		l := k.lease(1)[0]
		if x := k.exchange(k.Frontier, []*Outcome{full(l), full(l)}, 0, 0); !x.Stored[0] || x.Stored[1] {
			t.Errorf("stored %v", x.Stored)
		}
		if s := k.check(); s.Items != 1 {
			t.Errorf("%d items", s.Items)
		}
	})
}

// rawCommit sends one commit by hand and returns the answer.
func (k *kit) rawCommit(process string, number int, l Lease) answer {
	k.t.Helper()
	s := newSending([]*Outcome{full(l)})
	s.outcomes[0].Prepare()
	c, _ := k.next(s)
	c.args[0], c.args[1], c.args[2], c.args[3], c.args[4] = process, number, "0", "1", 1
	c.args[6], c.args[7], c.args[8], c.args[9] = 60000, 0, 0, "0"
	r, err := k.run(k.ctx, commitScript, c.args...)
	if err != nil {
		k.t.Fatal(err)
	}
	return r
}

func TestCommitNumbers(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		l := k.lease(3)
		for i, step := range []struct {
			number int
			lease  Lease
			want   string
			flags  string
			items  int64
		}{
			{1, l[0], "OK", "1", 1},
			{1, l[0], "DUP", "1", 1},
			{2, l[0], "OK", "0", 1}, // ended already
			{2, l[1], "DUP", "0", 1},
			{1, l[1], "LATE", "", 1}, // delayed on a broken connection
			{4, l[1], "ROLLBACK", "", 1},
			{4, l[1], "ROLLBACK", "", 1}, // its reply was lost: nothing has been written
			{3, l[1], "OK", "1", 2},
		} {
			r := k.rawCommit("p", step.number, step.lease)
			if r.text(0) != step.want || r.text(5) != step.flags {
				t.Errorf("step %d: %s %s, want %s %s", i, r.text(0), r.text(5), step.want, step.flags)
			}
			if s := k.check(); s.Items != step.items {
				t.Errorf("step %d: %d items, want %d", i, s.Items, step.items)
			}
		}
		if r := k.rawCommit("new", 2, l[2]); r.text(0) != "ROLLBACK" {
			t.Errorf("an unknown process with number 2: %s", r.text(0))
		}
	})
}

func TestRollbackSendsAgainUnfiltered(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		l := k.lease(2)
		k.commit(&Outcome{Lease: l[0], Children: []Child{get("kid")}})
		k.finish(k.lease(1))
		kid := get("kid").Request.Fingerprint()
		if !k.seen.has(get("kid").Request.seenKey()) {
			t.Fatal("a stored child did not enter the cache")
		}
		// Redis forgets: its last commits, and that it knows the kid
		k.rdb.HSet(k.ctx, k.keys.commits, k.processID(), "1 1")
		k.rdb.SRem(k.ctx, k.keys.dupefilter, kid.String())
		before := k.processID()
		k.commit(&Outcome{Lease: l[1], Children: []Child{get("kid")}})
		if k.processID() == before || k.number != 1 {
			t.Errorf("process %s, number %d", k.processID(), k.number)
		}
		if got := paths(k.lease(5)); got != "kid" {
			t.Errorf("leased %s: the forgotten page is lost", got)
		}
	})
}

func TestNumberOfACommitThatWasGivenUpIsNotUsedAgain(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"))
		l := k.lease(2)
		k.rawCommit(k.processID(), int(k.number)+1, l[0]) // it arrives, its reply does not
		gone, cancel := context.WithCancel(k.ctx)
		cancel()
		if _, err := k.Exchange(gone, []*Outcome{full(l[0])}, 0, 0); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v", err)
		}
		x := k.exchange(k.Frontier, []*Outcome{full(l[0]), full(l[1])}, 0, 0)
		if x.Stored[0] || !x.Stored[1] {
			t.Errorf("stored %v", x.Stored)
		}
		if s := k.check(); s.Items != 2 {
			t.Errorf("%d items", s.Items)
		}
	})
}

func TestLeaseIsRepeatable(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		ask := func(n int, again string) string {
			r, err := k.run(k.ctx, leaseScript, "00000000000000aa", n, 60000, 0, 8, 5, "w", "w#1", 0, "p", 0, 1, again, "0", 0)
			if err != nil {
				t.Fatal(err)
			}
			out := ""
			for i := 5; i+2 < len(r.values); i += 3 {
				out += r.text(i) + r.text(i + 2)[:12] + " "
			}
			return out
		}
		first := ask(2, "0")
		for _, again := range []string{"1", "0"} { // "0": the question that was thought lost arrives after it was asked again
			if got := ask(2, again); len(first) == 0 || got != first {
				t.Errorf("first %s, again (%s) %s", first, again, got)
			}
		}
		// one of them has gone: the other is not handed out again under its id
		k.rdb.ZAdd(k.ctx, k.keys.leases, z(1, "00000000000000aa:1"))
		k.lease(0)
		if again := ask(2, "1"); again == "" || !strings.HasSuffix(first, again) || again == first {
			t.Errorf("first %s, after an expiry %s", first, again)
		}
		k.check()
	})
}

func TestNoLeaseUnlessTheCommitIsStored(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"))
		r, err := k.run(k.ctx, leaseScript, nonce(), 5, 60000, 0, 8, 5, "w", "w#1", 0, "p", 7, 1, "1", "1", 0)
		if err != nil || len(r.values) != 5 {
			t.Errorf("%v, %v", r.values, err)
		}
	})
}

// TestALateQuestionForLeasesGetsNone: one that was delayed on a broken connection, and asked again, would give other requests the ids
// of leases that are held.
func TestALateQuestionForLeasesGetsNone(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"), get("4"))
		const nonce = "00000000000000aa"
		process, number := k.processID(), k.number
		ask := func(again string) answer {
			r, err := k.run(k.ctx, leaseScript, nonce, 2, 60000, 0, 8, 5, "w", "w#1", 0, process, number, 1, again, "0", 0)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := ask("1")
		first, second := newLease(r.text(5), r.text(6), r.text(7)), newLease(r.text(8), r.text(9), r.text(10))
		k.commit(&Outcome{Lease: first})
		if r := ask("0"); len(r.values) != 5 {
			t.Errorf("leased %v", r.values)
		}
		k.commit(&Outcome{Lease: second})
		k.finish(k.lease(2))
		if s := k.check(); s.Done != 5 || s.Enqueued != 5 {
			t.Errorf("%+v", s)
		}
		// Redis has forgotten commits: nothing is late
		k.add(get("5"))
		k.rdb.HDel(k.ctx, k.keys.commits, k.processID())
		if got := paths(k.lease(1)); got != "5" {
			t.Errorf("leased %q after a rollback", got)
		}
	})
}

func TestExpiryEndsInDead(t *testing.T) {
	each(t, Config{LeaseAttempts: 3}, func(t *testing.T, k *kit) {
		r := get("poison")
		r.Request.Callback, r.Request.Revision = "detail", "ab12"
		k.add(r)
		for i := range 3 {
			l := k.lease(1)
			if len(l) != 1 || l[0].Attempts != i {
				t.Fatalf("round %d: %+v", i, l)
			}
			k.expire(l...)
		}
		if got := k.lease(1); len(got) != 0 {
			t.Errorf("leased %s a fourth time", paths(got))
		}
		if s := k.check(); s.Dead != 1 {
			t.Errorf("%+v", s)
		}
		letters, err := k.client.DeadLetters(k.ctx, "hotnews", Keys{}, 0, -1)
		if err != nil || len(letters) != 1 {
			t.Fatalf("%v, %v", letters, err)
		}
		var d DeadLetter
		if err := json.Unmarshal([]byte(letters[0]), &d); err != nil {
			t.Fatal(err)
		}
		if d.Kind != DeadRequest || d.Reason != ReasonAttempts || d.Attempts != 3 || d.URL != "http://a.test/poison" ||
			d.Callback != "detail" || d.Revision != "ab12" || d.Worker == "" || d.Time == 0 {
			t.Errorf("%+v", d)
		}
		if back, err := DecodeRequest(d.Request); err != nil || back.URL != d.URL {
			t.Errorf("%+v, %v", back, err)
		}
	})
}

func TestPagesBesideAKillerDoNotDieWithIt(t *testing.T) {
	each(t, Config{LeaseAttempts: 3}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("killer"), get("2"), get("3"))
		for i := range 2 { // all four ride with the killer
			l := k.lease(10)
			if len(l) != 4 {
				t.Fatalf("round %d: leased %s", i, paths(l))
			}
			k.expire(l...)
		}
		for range 4 { // on the last attempt they come one at a time
			l := k.await(k.Frontier, 1)
			if len(k.lease(10)) != 0 {
				t.Fatal("a second request on its last attempt was leased")
			}
			if paths(l) != "killer" {
				k.finish(l)
				continue
			}
			k.expire(l...)
			delete(k.suspects, l[0].ID) // its worker is dead, this is another
		}
		k.lease(0)
		if s := k.check(); s.Dead != 1 || s.Done != 4 || s.Enqueued != 5 {
			t.Errorf("%+v", s)
		}
	})
}

func TestExtend(t *testing.T) {
	each(t, Config{}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"))
		l := k.lease(3)
		k.commit(&Outcome{Lease: l[0]})
		k.expire(l[1:]...)
		lost, err := k.Extend(k.ctx, ids(l[:2]))
		if err != nil || len(lost) != 1 || lost[0] != l[0].ID {
			t.Fatalf("lost %v, %v", lost, err)
		}
		if got := paths(k.lease(5)); got != "3" {
			t.Errorf("leased %s: an extended lease expired, or one not extended did not", got)
		}
		k.check()
	})
}

// A lease that is named twice in one call ends once.
func TestALeaseIsReleasedOnce(t *testing.T) {
	each(t, Config{Concurrency: 3}, func(t *testing.T, k *kit) {
		k.add(get("1"), get("2"), get("3"), get("4"))
		l := k.await(k.Frontier, 3)
		if err := k.Release(k.ctx, ids([]Lease{l[0], l[0], l[1]})); err != nil {
			t.Fatal(err)
		}
		k.check()
		if more := k.lease(9); len(more) != 2 {
			t.Errorf("%d leases in two places", len(more))
		}
		k.check()
	})
}
