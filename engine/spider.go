package engine

import (
	"context"

	"luacrawl/scheduler"
)

// Dropped is an item that process_item dropped.
type Dropped struct{ Reason string }

// FailedItem is an item whose process_item raised.
type FailedItem struct {
	Item Item
	Err  *ScriptError
}

// Output is what one call of a spider emitted. Items have been through process_item.
type Output struct {
	Items    []Item               // as the pipelines have made them, for Redis or, when that is none of them, for nobody but OnItems
	About    []ItemInfo           // of each of Items; nil when there is nothing to say
	Routes   []Route              // items for the sinks
	Waiting  []Waiting            // items that go on when their files are there
	Requests []*scheduler.Request // nobody changes them any more: the script may have kept them
	Dropped  []Dropped
	Failed   []FailedItem
	Stats    map[string]int64 // what the script counted itself
	Revision string           // of the generation that ran
}

// ItemInfo says which item of its call one is.
type ItemInfo struct {
	Number int    // in the order in which they were emitted, those that were dropped too
	Kind   string // name of its declaration, "" without one
	Key    string // what its declaration says identifies it, "" without one
	Origin string // fingerprint or seed of the page that emitted it, for an item whose call goes on in another page's; else ""
}

// Route is an item on its way to a sink, as the pipelines before the sink have made it.
type Route struct {
	ItemInfo
	Sink int // index in Options.Sinks
	Kept int // index in Output.Items of what goes if the sink refuses the item; -1 when nothing does
	Item Item
}

// Spider is one site's logic. Its methods may be called by many goroutines at once.
//
// Each call runs on one generation from start to end. An error is a *ScriptError when the script is at fault;
// then Output is nil and nothing of the call is kept.
type Spider interface {
	Name() string
	Revision() string // of the generation that a call made now would run on
	AllowedDomains() []string
	StartURLs() []string
	Settings() map[string]any // numbers, strings, booleans as the script has them

	// HasCallback reports whether the spider has a function of that name for a request that revision made has made, and the revision that
	// was asked: the next call may run on another one.
	HasCallback(ctx context.Context, name, made string) (has bool, revision string)
	// MakeRequests turns one seed into requests.
	MakeRequests(ctx context.Context, seed []byte) (*Output, error)
	// Parse calls the request's callback with its response. The error is a *UnknownCallbackError when it has none of that name, a *RetryError
	// when it wants the page again.
	Parse(ctx context.Context, r *Response) (*Output, error)
	// Errback calls the request's errback with its failure. The error is a *UnknownCallbackError when it has none of that name, a *RetryError
	// when it wants the request tried again.
	Errback(ctx context.Context, f *Failure) (*Output, error)
	// Seeds calls spider.seeds and returns raw seeds; none when the spider has no such function.
	Seeds(ctx context.Context) ([][]byte, error)
	// Tasks are what the fleet is to do now and then, in the revision that a call made now would run on. Nobody changes the list.
	Tasks() []scheduler.Task
	// RunTask runs a task by its name. The Output is empty when the spider has it no more. run stands for the seed in the IDs of its items.
	RunTask(ctx context.Context, name string, run []byte) (*Output, error)
}

// ItemFinisher is a Spider whose items may wait for files.
type ItemFinisher interface {
	// Finish takes an item, whose files are there or given up, through the pipelines after the one that it waited in. r is the request of
	// the last file.
	Finish(ctx context.Context, r *scheduler.Request, w *Waiting) (*Output, error)
}

// UnavailableError says that something which a script needs is down. The call is made again after a while.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

// UnknownCallbackError is a call of a function that the spider has not, in the revision that the call met. Another revision made the
// request, or the spider has changed since HasCallback was asked.
type UnknownCallbackError struct {
	Callback string
	Revision string
	Err      error // says it for a person
}

func (e *UnknownCallbackError) Error() string { return e.Err.Error() }

// Unwrap gives what says it for a person.
func (e *UnknownCallbackError) Unwrap() error { return e.Err }
