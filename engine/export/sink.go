package export

import "context"

// Sink takes items to one place. Its methods are called by one goroutine, one at a time.
//
// A page is committed in Redis only after every sink has taken its items, so a sink may be given the same record again after a crash:
// records of one ID are one row.
type Sink interface {
	// Name is how messages call it; it never holds a password.
	Name() string
	// Open makes it ready: connects, makes or checks the table, mends what a crash has left. It may be called again after an error.
	Open(ctx context.Context) error
	// Write takes records and returns when they are safe. Refused are those that will never be taken (a constraint, a type), the rest
	// are safe. An error means that none may count as taken: the sink is down, and the same records are given again later.
	Write(ctx context.Context, records []Record) (refused []Refusal, err error)
	// Close finishes what is open.
	Close(ctx context.Context) error
}

// Refusal is one record that a sink cannot take.
type Refusal struct {
	Index int // in the slice that was written
	Err   error
}
