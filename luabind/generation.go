package luabind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// loadTimeout is how long the top level of a spider's files may run.
const loadTimeout = 5 * time.Second

// generation is one content of a spider: its main file and all modules that it requires, compiled, and what its table says. It
// does not change once it is loaded. A spider runs on one generation at a time, and a call on one from start to end.
type generation struct {
	definition
	id       string // of the revision, 64 hex digits
	revision string // its short form
	options  Options
	display  string // how errors name the folder
	fsys     fs.FS  // nil once it is loaded
	mainPath string
	folder   string // of the main file
	main     *source
	files    map[string]*source // modules of the folder by name
	pool     pool
	warnSeed sync.Once
}

// source is one file of a generation.
type source struct {
	path string
	text []byte
	*compiled
}

// loadGeneration reads, compiles, runs once and checks a spider. Its errors are *engine.ScriptError.
func loadGeneration(fsys fs.FS, main, display string, o Options) (*generation, error) {
	g := newGeneration(fsys, main, display, o)
	if err := g.readMain(); err != nil {
		return nil, err
	}
	if err := g.dryRun(); err != nil {
		return nil, err
	}
	g.fsys = nil
	g.identify(g.hash())
	return g, nil
}

// identify gives a generation the ID of its revision.
func (g *generation) identify(id string) { g.id, g.revision = id, scheduler.ShortRevision(id) }

// newGeneration makes a generation that has read nothing.
func newGeneration(fsys fs.FS, main, display string, o Options) *generation {
	if o.watch == nil {
		o.watch = newHeapWatch(o.MemoryLimit)
	}
	return &generation{options: o, display: display, fsys: fsys, mainPath: main, folder: path.Dir(main), files: map[string]*source{}}
}

// readMain reads the main file and what it requires.
func (g *generation) readMain() (err error) {
	if g.main, err = g.read(g.mainPath); err != nil {
		return err
	}
	return g.readRequired(g.main)
}

func (g *generation) read(name string) (*source, error) {
	text, err := fs.ReadFile(g.fsys, name)
	if err != nil {
		return nil, &engine.ScriptError{Kind: "error", Message: readError(err), File: g.display + name}
	}
	c, err := compile(g.display+name, text)
	if err != nil {
		return nil, quote(err, text)
	}
	return &source{name, text, c}, nil
}

func readError(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no such file"
	}
	return fmt.Sprintf("the file cannot be read: %v", err)
}

// readRequired reads the modules that a file requires by literal names, and theirs. One that is missing is left to the
// require that asks for it: it may never run, or run inside a pcall.
func (g *generation) readRequired(s *source) error {
	for _, name := range s.requires {
		if _, builtin := modules[name]; builtin || g.files[name] != nil {
			continue
		}
		file, err := modulePath(g.folder, name)
		if err != nil {
			continue
		}
		if _, err := fs.Stat(g.fsys, file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		m, err := g.read(file)
		if err != nil {
			return err
		}
		g.files[name] = m
		if err := g.readRequired(m); err != nil {
			return err
		}
	}
	return nil
}

// module is a module's prototype. Only the dry run may read files: afterwards the content is settled.
func (g *generation) module(name string) (*lua.FunctionProto, error) {
	if m := g.files[name]; m != nil {
		return m.proto, nil
	}
	file, err := modulePath(g.folder, name)
	switch {
	case err != nil:
		return nil, err
	case g.fsys == nil:
		return nil, fmt.Errorf("require: module %q was not loaded with the spider; require it at the top of a file, or by a literal name", name)
	}
	if _, err := fs.Stat(g.fsys, file); errors.Is(err, fs.ErrNotExist) {
		return nil, g.missing(name, file)
	}
	m, err := g.read(file)
	if err != nil {
		return nil, err
	}
	g.files[name] = m
	return m.proto, g.readRequired(m)
}

func (g *generation) missing(name, file string) error {
	builtin := slices.Sorted(maps.Keys(modules))
	if s := engine.Nearest(name, builtin); s != "" {
		return fmt.Errorf("require: there is no module %q: neither the file %s%s nor a built-in one; did you mean %q?", name, g.display, file, s)
	}
	return fmt.Errorf("require: there is no module %q: neither the file %s%s nor one of the built-in %v", name, g.display, file, builtin)
}

// dryRun runs the top level of the spider in a VM that is thrown away, and checks its table.
func (g *generation) dryRun() error {
	v, err := g.newVM()
	if err != nil {
		return err
	}
	defer v.close()
	d, err := define(v.spider)
	if err != nil {
		return &engine.ScriptError{Kind: "error", Message: err.Error(), File: g.display + g.main.path}
	}
	g.definition = *d
	if err := v.ready(); err != nil {
		return g.quote(err)
	}
	g.tasks = v.allTasks(d)
	return nil
}

// loading is the context in which files run their top level.
func (g *generation) loading() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), cmp.Or(g.options.loadTimeout, loadTimeout))
}

// newVM makes a VM with the spider loaded in it.
func (g *generation) newVM() (*vm, error) {
	ctx, cancel := g.loading()
	defer cancel()
	v := newVM(g, g.options.Logger)
	if err := v.load(ctx); err != nil {
		v.close()
		return nil, g.quote(err)
	}
	if g.functions == nil { // the dry run: the table is not checked yet
		return v, nil
	}
	if err := v.ready(); err != nil {
		v.close()
		return nil, g.quote(err)
	}
	return v, nil
}

// ready prepares what depends on the spider's table. After it no file is at its top level.
func (v *vm) ready() error {
	ctx, cancel := v.gen.loading()
	defer cancel()
	v.openItems()
	err := v.openPipelines(ctx, v.gen.steps)
	v.defined = err == nil
	return v.misloaded(err)
}

// misloaded is the error of a top level as a *engine.ScriptError that names a file.
func (v *vm) misloaded(err error) error {
	if err == nil {
		return nil
	}
	main := v.gen.display + v.gen.mainPath
	var e *engine.ScriptError
	if !errors.As(err, &e) {
		return &engine.ScriptError{Kind: "error", Message: err.Error(), File: main}
	}
	if e.Kind == "timeout" {
		e.Message = "the top level of the file did not end in time; it should only define functions and tables"
	}
	e.File = cmp.Or(e.File, main)
	return e
}

// load runs the main file, whose result is the spider.
func (v *vm) load(ctx context.Context) error {
	result, err := v.call(ctx, v.L.NewFunctionFromProto(v.gen.main.proto))
	if err != nil {
		return v.misloaded(err)
	}
	spider, ok := result.(*lua.LTable)
	if !ok {
		return v.misloaded(errors.New(notASpider(result)))
	}
	v.adopt(spider)
	return nil
}

func notASpider(result lua.LValue) string {
	if result == lua.LNil {
		return "the file returns nothing; end it with \"return spider\", spider being the table with name and parse"
	}
	return fmt.Sprintf("the file returns a %s; it must return the spider's table, with name and parse", result.Type())
}

// adopt takes the spider's table in: its functions by name, and the arguments of the run.
func (v *vm) adopt(spider *lua.LTable) {
	v.spider = spider
	v.names = map[*lua.LFunction]string{}
	spider.ForEach(func(k, f lua.LValue) {
		name, isName := k.(lua.LString)
		if fn, isFunction := f.(*lua.LFunction); isName && isFunction && (v.names[fn] == "" || string(name) < v.names[fn]) {
			v.names[fn] = string(name)
		}
	})
	args, ok := spider.RawGetString("args").(*lua.LTable)
	if !ok {
		args = v.L.NewTable()
	}
	for name, value := range v.gen.options.Args {
		args.RawSetString(name, lua.LString(value))
	}
	if spider.RawGetString("args") == lua.LNil || ok {
		spider.RawSetString("args", args)
	}
}

// sources are all files that were read, in the order of their names.
func (g *generation) sources() []*source {
	all := slices.Collect(maps.Values(g.files))
	if g.main != nil {
		all = append(all, g.main)
	}
	slices.SortFunc(all, func(a, b *source) int { return cmp.Compare(a.path, b.path) })
	return all
}

// texts are the contents of all files that were read, by their paths.
func (g *generation) texts() map[string][]byte {
	texts := map[string][]byte{}
	for _, s := range g.sources() {
		texts[s.path] = s.text
	}
	return texts
}

// hash is the ID of the revision that the files make.
func (g *generation) hash() string { return scheduler.RevisionID(g.mainPath, g.texts()) }
