// Package luabind runs spiders that are written in Lua.
package luabind

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"sync"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/engine/database"
	"luacrawl/scheduler"
)

// defaultCallback is the function that a request without a callback goes to.
const defaultCallback = "parse"

// Options are what a spider is loaded with. The zero value works.
type Options struct {
	Args   map[string]string // spider.args
	Logger *slog.Logger      // of the functions log and print; nil discards
	Memory int64             // callback_memory, bytes; 0 means 64 MB

	MemoryLimit int64 // memory_limit, bytes of the process's heap; 0 means 2 GB

	Env       func(name string) (string, bool) // the environment variables that the spider may read; nil for none
	Databases *database.Pools                  // of require "sql", shared with others of the process; nil makes some for this spider

	loadTimeout time.Duration // of the top level; 0 means loadTimeout
	watch       *heapWatch    // one for all generations of a spider
}

// Spider is a loaded spider. It implements engine.Spider on its current generation.
type Spider struct {
	origin    origin
	current   atomic.Pointer[generation]
	seen      atomic.Pointer[fileSet] // what the last load looked at, whether it was good or not
	reloading sync.Mutex              // held by Reload and ReloadRevision: one at a time
	older     olderGenerations
	databases *database.Pools // nil when they are another's
}

var _ engine.Spider = (*Spider)(nil)

// Load compiles a spider and the modules that it requires from fsys, runs it once in a throwaway VM and checks it.
// main is the spider's file in fsys; display is how errors name the folder ("spiders/"). Errors are *engine.ScriptError.
func Load(fsys fs.FS, main, display string, o Options) (*Spider, error) {
	return loadFrom(origin{fsys: fsys, main: path.Clean(main), display: display, options: o})
}

// LoadRevision is Load with the files of a revision, which Revision.Validate has found whole. Errors name its files as they are in it.
func LoadRevision(r *scheduler.Revision, o Options) (*Spider, error) { return loadFrom(originOf(r, o)) }

func loadFrom(o origin) (*Spider, error) {
	o.options.watch = newHeapWatch(o.options.MemoryLimit)
	var own *database.Pools
	if o.options.Databases == nil {
		own = database.NewPools()
		o.options.Databases = own
	}
	s := &Spider{origin: o, databases: own}
	s.older.load = s.loadOlder
	g, seen, err := s.origin.load()
	if err != nil {
		return nil, err
	}
	s.seen.Store(&seen)
	s.current.Store(g)
	return s, nil
}

// files are the files that the last load or Reload looked at, with what they held. Nobody changes them.
func (s *Spider) files() fileSet { return *s.seen.Load() }

// Close ends its VMs; those of running calls end with the call.
func (s *Spider) Close() {
	s.current.Load().close()
	s.older.use(nil)
	if s.databases != nil {
		s.databases.Close() // an error is about connections that are gone already
	}
}

// Name is the spider's name: 1 to 64 of the characters A-Z a-z 0-9 _ . -
func (s *Spider) Name() string { return s.current.Load().name }

// Revision is the short form of the ID of the revision that runs.
func (s *Spider) Revision() string { return s.current.Load().revision }

// Content is the revision that runs: its files, its ID, and the spider's name. Nobody changes the files.
func (s *Spider) Content() *scheduler.Revision {
	g := s.current.Load()
	return &scheduler.Revision{ID: g.id, Spider: g.name, Main: g.main.path, Files: g.texts()}
}

// AllowedDomains are the hosts whose pages, with those of their subdomains, belong to the crawl; none means all.
func (s *Spider) AllowedDomains() []string { return s.current.Load().domains }

// StartURLs are the spider's own seeds.
func (s *Spider) StartURLs() []string { return s.current.Load().startURLs }

// Settings are the spider's settings: float64, string, bool, and []any of them.
func (s *Spider) Settings() map[string]any { return s.current.Load().settings }

// HasCallback reports whether the spider has a function of that name that may get responses of a request that the revision made has made,
// and which revision of it was asked. It waits for a revision that is not at hand, until ctx ends.
func (s *Spider) HasCallback(ctx context.Context, name, made string) (has bool, revision string) {
	g := s.generationFor(ctx, made)
	return g.isCallback(name), g.revision
}

// MakeRequests calls the spider's make_request_from_data, or else reads the seed as a URL or a JSON object. A seed that cannot
// be used gives an error that is no *engine.ScriptError. No requests and no error means that the spider skipped the seed.
func (s *Spider) MakeRequests(ctx context.Context, seed []byte) (*engine.Output, error) {
	g := s.current.Load()
	if !g.functions["make_request_from_data"] {
		return g.defaultRequests(seed)
	}
	return g.run(0, func(v *vm) error {
		v.out.seed = seed
		result, err := v.call(ctx, v.spider.RawGetString("make_request_from_data"), lua.LString(seed))
		if err != nil {
			return err
		}
		return v.takeReturned(ctx, result)
	})
}

// takeReturned emits what make_request_from_data returned.
func (v *vm) takeReturned(ctx context.Context, result lua.LValue) error {
	t, isTable := result.(*lua.LTable)
	switch {
	case result == lua.LNil, isTable && isEmpty(t): // a list that was filled in a loop may be empty
		return nil
	case asRequest(result) == nil && !(isTable && isRequestList(t)):
		return v.mistake("make_request_from_data", "make_request_from_data returned %s; return a request, a list of requests, or nothing to skip the seed", describe(result))
	}
	_, err := v.call(ctx, v.L.NewFunction(v.emit), result)
	return v.placed("make_request_from_data", err)
}

// Parse calls the request's callback with its response and its cb_kwargs.
func (s *Spider) Parse(ctx context.Context, r *engine.Response) (*engine.Output, error) {
	g := s.generationFor(ctx, r.Request.Revision)
	name := r.Request.Callback
	if name == "" {
		name = defaultCallback
	}
	if !g.isCallback(name) {
		return nil, g.unknownCallback(name)
	}
	return g.run(r.Request.Depth+1, func(v *vm) error {
		v.out.request, v.out.obeyed, v.out.retries = r.Request, r.Obeyed, true
		kwargs, err := v.kwargs(r.Request)
		if err != nil {
			return err
		}
		return v.callback(ctx, name, v.newResponse(r), kwargs)
	})
}

// Errback calls the request's errback with a table of request, response (or nil), reason and message.
func (s *Spider) Errback(ctx context.Context, f *engine.Failure) (*engine.Output, error) {
	g := s.generationFor(ctx, f.Request.Revision)
	name := f.Request.Errback
	if !g.isCallback(name) {
		return nil, g.unknownCallback(name)
	}
	return g.run(f.Request.Depth+1, func(v *vm) error {
		v.out.request, v.out.retries = f.Request, true
		t := v.L.CreateTable(0, 4)
		t.RawSetString("request", v.newRequest(f.Request))
		t.RawSetString("reason", lua.LString(f.Reason))
		t.RawSetString("message", lua.LString(f.Message))
		if f.Response != nil {
			t.RawSetString("response", v.newResponse(f.Response))
		}
		return v.callback(ctx, name, t)
	})
}

// kwargs is the table of a request's cb_kwargs: empty when it has none.
func (v *vm) kwargs(r *scheduler.Request) (lua.LValue, error) {
	if len(r.CbKwargs) == 0 {
		return v.L.CreateTable(0, 0), nil
	}
	lv, err := v.decodeJSON(r.CbKwargs)
	if err != nil {
		return nil, fmt.Errorf("cb_kwargs of the request: %w", err)
	}
	return lv, nil
}

// callback calls a function of the spider that emits and returns nothing.
func (v *vm) callback(ctx context.Context, name string, args ...lua.LValue) error {
	result, err := v.call(ctx, v.spider.RawGetString(name), args...)
	if err != nil {
		return err
	}
	if result != lua.LNil {
		return v.mistake(name, "%s returned %s; emit(...) what it finds instead of returning it", name, describe(result))
	}
	return nil
}

// run runs a call on a VM of its own and gives what it emitted: requests of the given depth.
func (g *generation) run(depth int, call func(*vm) error) (out *engine.Output, err error) {
	v, err := g.take()
	if err != nil {
		return nil, err
	}
	defer g.give(v)
	defer func() {
		v.out = nil
		if p := recover(); p != nil {
			v.broken = true
			out, err = nil, &engine.ScriptError{Kind: "error", File: g.display + g.main.path, Message: fmt.Sprintf("the call failed inside of luacrawl: %v", p)}
		}
	}()
	v.out = &collector{depth: depth}
	if err := call(v); err != nil {
		return nil, g.quote(err)
	}
	for _, f := range v.out.out.Failed {
		g.quote(f.Err)
	}
	v.out.out.Revision = g.revision
	return &v.out.out, nil
}

// mistake is an error about a function of the spider as a whole.
func (v *vm) mistake(function, format string, args ...any) error {
	return v.placed(function, &engine.ScriptError{Kind: "error", Message: fmt.Sprintf(format, args...)})
}

// placed gives an error without a place that of a function of the spider.
func (v *vm) placed(function string, err error) error {
	e, ok := err.(*engine.ScriptError)
	fn, isFunction := v.spider.RawGetString(function).(*lua.LFunction)
	if ok && isFunction && e.File == "" && fn.Proto != nil {
		e.File, e.Line = fn.Proto.SourceName, fn.Proto.LineDefined
	}
	return err
}

func (g *generation) unknownCallback(name string) error {
	e := &engine.ScriptError{Kind: "error", File: g.display + g.main.path, Message: g.noFunction("callback", name)}
	return &engine.UnknownCallbackError{Callback: name, Revision: g.revision, Err: e}
}

// noFunction says that a request names a function which the spider has not; what is callback or errback.
func (g *generation) noFunction(what, name string) string {
	if name == "" {
		return fmt.Sprintf("the request names no callback and the spider has no function parse; define function spider.parse(response), or name one of %q", g.callbacks())
	}
	return fmt.Sprintf("%s %.100q is no function of the spider%s", what, name, g.didYouMean(name))
}

// didYouMean is the tail of an error about a callback that is none.
func (d *definition) didYouMean(name string) string {
	known := d.callbacks()
	if near := engine.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("; it has %q", known)
}
