package luabind

import (
	"fmt"
	"io/fs"
	"maps"
	"reflect"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

// origin is where a spider came from, and so where its edits come from.
type origin struct {
	fsys    fs.FS
	main    string // its file in fsys
	display string // how errors name the folder
	id      string // of the revision that fsys holds; "" is what its files make
	options Options
}

// load makes a generation of what the files hold now. The files that it looked at are known also when it fails.
func (o *origin) load() (*generation, fileSet, error) {
	r := &recorder{FS: o.fsys, seen: fileSet{}}
	g, err := loadGeneration(r, o.main, o.display, o.options)
	if err == nil && o.id != "" {
		g.identify(o.id)
	}
	return g, r.seen, err
}

// Reloaded says what a Reload has done: the revision before and after it, the same when the files hold what already runs.
type Reloaded struct{ Before, After string }

// Changed reports whether another generation runs now.
func (r Reloaded) Changed() bool { return r.Before != r.After }

// Reload puts what the spider's files hold now into effect:
//
//  1. All is read, compiled, run once in a throwaway VM and checked, as by Load. The name must stay the same.
//  2. accept is asked, if it is not nil, with the settings of the new spider.
//  3. The generation is swapped. Calls that run end on the one on which they began, later ones run on the new one.
//  4. The VMs of the old one are closed; those in use when their calls end.
//
// An error, a *engine.ScriptError or accept's own, changes nothing.
func (s *Spider) Reload(accept func(settings map[string]any) error) (Reloaded, error) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	return s.reload(&s.origin, accept, nil)
}

// ReloadRevision is Reload with the files of a revision. older says how requests that other revisions made are finished from now on: by the
// revision that made each, which older finds by the short form of its ID; nil leaves all to the new one. They keep the way they had when
// the revision is refused.
func (s *Spider) ReloadRevision(r *scheduler.Revision, older Older, accept func(settings map[string]any) error) (Reloaded, error) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	o := originOf(r, s.origin.options)
	done, err := s.reload(&o, accept, older)
	if err == nil {
		s.origin = o
		s.older.use(older)
	}
	return done, err
}

// reload makes what o holds the current generation. With older the one before is kept for the requests that it has made.
func (s *Spider) reload(o *origin, accept func(map[string]any) error, older Older) (Reloaded, error) {
	old := s.current.Load()
	unchanged := Reloaded{old.revision, old.revision}
	next, seen, err := o.load()
	s.seen.Store(&seen)
	if err != nil {
		return unchanged, err
	}
	if next.name != old.name {
		return unchanged, next.renamed(old.name)
	}
	if !sameSinks(&next.definition, &old.definition) {
		return unchanged, &PipelinesChangedError{File: next.display + next.mainPath}
	}
	if len(old.sinks()) > 0 && !maps.EqualFunc(next.items, old.items, (*declaration).same) {
		return unchanged, &PipelinesChangedError{File: next.display + next.mainPath, Items: true}
	}
	if accept != nil {
		if err := accept(next.settings); err != nil {
			return unchanged, err
		}
	}
	if next.id == old.id {
		return unchanged, nil
	}
	s.current.Store(next)
	if older == nil {
		old.close()
	} else {
		s.older.keep(old)
	}
	return Reloaded{old.revision, next.revision}, nil
}

// sameSinks reports whether the items of two definitions go to the same places.
func sameSinks(a, b *definition) bool {
	return reflect.DeepEqual(a.sinks(), b.sinks()) && a.stores() == b.stores() && a.stream() == b.stream()
}

// PipelinesChangedError says that an edit has changed where items go: the sinks of a crawl are those of its start.
type PipelinesChangedError struct {
	File  string
	Items bool // it is the declarations of the items, after which the sinks have their columns
}

func (e *PipelinesChangedError) Error() string {
	if e.Items {
		return e.File + ": spider.items declares other items than at the start, which the tables and files of spider.pipelines have; they take effect when the crawl is started again"
	}
	return e.File + ": spider.pipelines names other sinks than at the start; they take effect when the crawl is started again"
}

func (g *generation) renamed(from string) error {
	return &engine.ScriptError{
		Kind: "error", File: g.display + g.main.path,
		Message: fmt.Sprintf("the spider's name was %q and is now %q; its keys in Redis begin with it, so it cannot change during a crawl: restore it, or start the crawl anew", from, g.name),
	}
}
