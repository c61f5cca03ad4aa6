package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxLeases is how many leases one script call hands out or lengthens.
const maxLeases = 256

// Lease is one request or one seed handed to this worker for a time. Its ID is the fence: a commit
// under an ID that has expired stores nothing.
type Lease struct {
	ID       string
	Slot     string
	At       time.Time // Redis' clock when it was handed out
	Asked    time.Time // our clock when it was asked for
	Attempts int       // leases of it that ended without an outcome
	Request  *Request  // nil for a seed or when Err is set
	Seed     []byte    // the raw seed; nil for a request
	Err      error     // the member could not be read; Raw has it
	Raw      []byte
}

// newLease reads what the lease script hands out. The ID is "<nonce>:<i>/<head>": what Redis calls the lease, and the member's head, so
// that an ID can never stand for two requests.
func newLease(id, slot, member string) Lease {
	if len(member) < headSize {
		return Lease{ID: id + "/", Slot: slot, Raw: []byte(member), Err: fmt.Errorf("member of %d bytes in the queue of %q", len(member), slot)}
	}
	l := Lease{ID: id + "/" + member[:headSize], Slot: slot}
	attempts, err := strconv.ParseInt(member[headSize-2:headSize], 16, 0)
	l.Attempts = int(attempts)
	body := []byte(member[headSize:])
	switch {
	case err != nil:
		l.Raw, l.Err = body, fmt.Errorf("member of the queue of %q: %w", slot, err)
	case slot == seedsSlot:
		l.Seed = body
	default:
		if l.Request, err = DecodeRequest(body); err != nil {
			l.Raw, l.Err = body, fmt.Errorf("member of the queue of %q: %w", slot, err)
		}
	}
	return l
}

// redisID is what Redis calls a lease.
func redisID(id string) string {
	short, _, _ := strings.Cut(id, "/")
	return short
}

// Extend lengthens leases by a lease time and returns the IDs of those that are no longer ours. It keeps the worker alive, too,
// and works on a Redis that is out of memory.
func (f *Frontier) Extend(ctx context.Context, ids []string) (lost []string, err error) {
	byShort := make(map[string]string, len(ids))
	for _, id := range ids {
		byShort[redisID(id)] = id
	}
	for chunk := range chunks(ids, maxLeases) {
		args := []any{f.cfg.Lease.Milliseconds(), f.worker, f.heartbeat().Milliseconds()}
		for _, id := range chunk {
			args = append(args, redisID(id))
		}
		r, err := f.run(ctx, extendScript, args...)
		if err != nil {
			return lost, fmt.Errorf("extending leases: %w", err)
		}
		for i := range r.values {
			lost = append(lost, byShort[r.text(i)])
			f.held.remove(byShort[r.text(i)])
		}
	}
	return lost, nil
}

// Land tells that the pages of leases are fetched and only wait for their commits, for a sink as it may be. Their slots may start other pages
// meanwhile; the leases go on. A lease that has ended, or has landed before, changes nothing.
func (f *Frontier) Land(ctx context.Context, ids []string) error {
	for chunk := range chunks(ids, maxLeases) {
		args := make([]any, len(chunk))
		for i, id := range chunk {
			args[i] = redisID(id)
		}
		if len(args) == 0 {
			break
		}
		if _, err := f.run(ctx, landScript, args...); err != nil {
			return fmt.Errorf("landing leases: %w", err)
		}
		f.held.remove(chunk...)
	}
	return nil
}

// Release hands leases back at once: place and attempts are kept.
func (f *Frontier) Release(ctx context.Context, ids []string) error {
	for chunk := range chunks(ids, 100) {
		if len(chunk) == 0 {
			break
		}
		args := make([]any, len(chunk))
		for i, id := range chunk {
			args[i] = redisID(id)
			delete(f.suspects, id)
		}
		if _, err := f.run(ctx, releaseScript, args...); err != nil {
			return fmt.Errorf("releasing leases: %w", err)
		}
		f.held.remove(chunk...)
	}
	return nil
}

// chunks yields ids in pieces of at most n; once, empty, when there are none.
func chunks(ids []string, n int) func(yield func([]string) bool) {
	if len(ids) == 0 {
		return func(yield func([]string) bool) { yield(nil) }
	}
	return slices.Chunk(ids, n)
}
