package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Bounds of the pools that scripts share.
const (
	maxPools       = 16 // databases
	maxConnections = 8  // to one database
	maxIdle        = 2
	idleTime       = time.Minute
)

// Errors of Pools that another moment may not have. Both are Unavailable.
var (
	ErrTooMany = errors.New("too many databases are in use at once")
	ErrClosed  = errors.New("the crawl is ending: its databases are closed")
)

// Pools are the connections of a process to the databases of its scripts, one pool for each DSN. All methods may be called by many
// goroutines. Errors are free of DSNs.
type Pools struct {
	mu     sync.Mutex
	open   map[string]*pool // guarded by mu
	uses   int64            // counts calls; guarded by mu
	closed bool             // guarded by mu
}

// pool is one database of Pools. Its fields are guarded by Pools.mu.
type pool struct {
	db    *sql.DB
	users int   // calls and transactions that run on it
	used  int64 // the last call
}

// NewPools makes pools that have no connections yet.
func NewPools() *Pools { return &Pools{open: map[string]*pool{}} }

// Close ends all connections. Calls that still run fail.
func (p *Pools) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var all error
	for key, one := range p.open {
		all = errors.Join(all, one.db.Close())
		delete(p.open, key)
	}
	return all
}

// take gives the pool of a source, which stays open until it is given back.
func (p *Pools) take(s *Source) (*pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	one := p.open[s.key]
	if one == nil {
		if err := p.makeRoom(); err != nil {
			return nil, err
		}
		db, err := s.Open(false)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(maxConnections)
		db.SetMaxIdleConns(maxIdle)
		db.SetConnMaxIdleTime(idleTime)
		one = &pool{db: db}
		p.open[s.key] = one
	}
	p.uses++
	one.users++
	one.used = p.uses
	return one, nil
}

func (p *Pools) give(one *pool) {
	p.mu.Lock()
	one.users--
	p.mu.Unlock()
}

// makeRoom closes the pool that has been idle for longest, when there are as many as there may be.
func (p *Pools) makeRoom() error {
	if len(p.open) < maxPools {
		return nil
	}
	oldest := ""
	for key, one := range p.open {
		if one.users == 0 && (oldest == "" || one.used < p.open[oldest].used) {
			oldest = key
		}
	}
	if oldest == "" {
		return fmt.Errorf("%w: %d are the limit of a process", ErrTooMany, maxPools)
	}
	p.open[oldest].db.Close()
	delete(p.open, oldest)
	return nil
}

// Exec runs a statement that gives no rows.
func (p *Pools) Exec(ctx context.Context, s *Source, query string, args ...any) (Result, error) {
	one, err := p.take(s)
	if err != nil {
		return Result{}, err
	}
	defer p.give(one)
	return exec(ctx, s, one.db, query, args)
}

// Query runs a statement and gives its rows, at most limit.
func (p *Pools) Query(ctx context.Context, s *Source, limit Limit, query string, args ...any) (*Rows, error) {
	one, err := p.take(s)
	if err != nil {
		return nil, err
	}
	defer p.give(one)
	return read(ctx, s, one.db, limit, query, args)
}

// Begin starts a transaction, which ends with ctx when nobody ends it before.
func (p *Pools) Begin(ctx context.Context, s *Source) (*Tx, error) {
	one, err := p.take(s)
	if err != nil {
		return nil, err
	}
	tx, err := one.db.BeginTx(ctx, nil)
	if err != nil {
		p.give(one)
		return nil, s.Scrub(err)
	}
	return &Tx{source: s, tx: tx, done: func() { p.give(one) }}, nil
}

// Tx is a transaction. One goroutine uses it.
type Tx struct {
	source *Source
	tx     *sql.Tx
	failed error  // of the first statement that failed
	done   func() // nil once it has ended
}

// Exec is Pools.Exec within the transaction.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (Result, error) {
	r, err := exec(ctx, t.source, t.tx, query, args)
	return r, t.note(err)
}

// Query is Pools.Query within the transaction.
func (t *Tx) Query(ctx context.Context, limit Limit, query string, args ...any) (*Rows, error) {
	r, err := read(ctx, t.source, t.tx, limit, query, args)
	return r, t.note(err)
}

func (t *Tx) note(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// Commit ends the transaction. When one of its statements has failed, all is rolled back and that error comes back, on each database
// as on PostgreSQL.
func (t *Tx) Commit() error {
	if t.failed != nil {
		t.Rollback()
		return fmt.Errorf("rolled back, since a statement failed: %w", t.failed)
	}
	if !t.end() {
		return sql.ErrTxDone
	}
	return t.source.Scrub(t.tx.Commit())
}

// Rollback undoes the transaction; it does nothing on one that has ended.
func (t *Tx) Rollback() {
	if t.end() {
		t.tx.Rollback() // an error means that the connection is gone, and the transaction with it
	}
}

// Ended reports whether it was committed or rolled back.
func (t *Tx) Ended() bool { return t.done == nil }

func (t *Tx) end() bool {
	if t.done == nil {
		return false
	}
	t.done()
	t.done = nil
	return true
}
