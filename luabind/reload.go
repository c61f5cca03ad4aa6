package luabind

import (
	"fmt"
	"io/fs"

	"luacrawl/engine"
)

// origin is where a spider came from, and so where its edits come from.
type origin struct {
	fsys    fs.FS
	main    string // its file in fsys
	display string // how errors name the folder
	options Options
}

// load makes a generation of what the files hold now. The files that it looked at are known also when it fails.
func (o *origin) load() (*generation, fileSet, error) {
	r := &recorder{FS: o.fsys, seen: fileSet{}}
	g, err := loadGeneration(r, o.main, o.display, o.options)
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
	old := s.current.Load()
	unchanged := Reloaded{old.revision, old.revision}
	next, seen, err := s.origin.load()
	s.seen.Store(&seen)
	if err != nil {
		return unchanged, err
	}
	if next.name != old.name {
		return unchanged, next.renamed(old.name)
	}
	if accept != nil {
		if err := accept(next.settings); err != nil {
			return unchanged, err
		}
	}
	if next.revision == old.revision {
		return unchanged, nil
	}
	s.current.Store(next)
	old.close()
	return Reloaded{old.revision, next.revision}, nil
}

func (g *generation) renamed(from string) error {
	return &engine.ScriptError{
		Kind: "error", File: g.display + g.main.path,
		Message: fmt.Sprintf("the spider's name was %q and is now %q; its keys in Redis begin with it, so it cannot change during a crawl: restore it, or start the crawl anew", from, g.name),
	}
}
