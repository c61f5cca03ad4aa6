package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/scheduler"
)

// pushable is a spider on disk that is to be pushed.
type pushable struct {
	file     string // as it was named
	folder   string
	revision *scheduler.Revision
}

// pushables are the spiders that a push of a file or folder means: a spider's file itself, all spiders of a folder, or those that require a
// module. Each has been checked; a mistake in one refuses all.
func pushables(arg string) ([]pushable, error) {
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("no spider %s: give the path of a Lua file, or of a folder with some", arg)
	case err != nil:
		return nil, usagef("spider %s: %w", arg, err)
	case info.IsDir():
		return spidersOf(arg)
	case info.Size() > scheduler.MaxRevisionFile:
		return nil, usagef("%s has %d bytes, more than the %d that a file of a revision may have; keep data outside of Lua files", arg, info.Size(), scheduler.MaxRevisionFile)
	}
	folder, main := filepath.Split(filepath.Clean(arg))
	folder = cmp.Or(folder, ".")
	if luabind.IsModule(os.DirFS(folder), main) {
		return requiring(arg)
	}
	one, err := newPushable(folder, main)
	if err != nil {
		return nil, err
	}
	return []pushable{one}, nil
}

// newPushable checks and loads one spider.
func newPushable(folder, main string) (pushable, error) {
	display := filepath.ToSlash(filepath.Clean(folder)) + "/"
	if display == "./" {
		display = ""
	}
	options := luabind.Options{Memory: engine.DefaultSettings().CallbackMemory}
	if found := luabind.Check(os.DirFS(folder), main, display, options).Findings; len(found) > 0 {
		return pushable{}, refused(found)
	}
	spider, err := luabind.Load(os.DirFS(folder), main, display, options)
	if err != nil {
		return pushable{}, usageError(err)
	}
	defer spider.Close()
	p := pushable{file: display + main, folder: folder, revision: spider.Content()}
	if err := p.revision.Validate(); err != nil {
		return p, usageError(fmt.Errorf("%s: %w", p.file, err))
	}
	return p, nil
}

// refused lists what is wrong, a line each.
func refused(found []luabind.Finding) error {
	lines := make([]string, 0, len(found))
	for _, f := range found {
		lines = append(lines, f.String())
	}
	return usageError(errors.New("not pushed:\n" + strings.Join(lines, "\n")))
}

// spidersOf are the spiders of a folder: its Lua files, without the modules that they require.
func spidersOf(folder string) ([]pushable, error) {
	names, err := luaFiles(folder)
	if err != nil {
		return nil, usageError(err)
	}
	var all []pushable
	var failures []error
	failed := map[string]error{}
	for _, name := range names {
		if luabind.IsModule(os.DirFS(folder), name) {
			continue
		}
		one, err := newPushable(folder, name)
		if err != nil {
			failed[name] = err
			continue
		}
		all = append(all, one)
	}
	for _, name := range names {
		if err := failed[name]; err != nil && !slices.ContainsFunc(all, func(p pushable) bool { return p.revision.Files[name] != nil }) {
			failures = append(failures, err)
		}
	}
	if err := errors.Join(failures...); err != nil {
		return nil, usageError(err)
	}
	if len(all) == 0 {
		return nil, usagef("no spider in folder %s", folder)
	}
	return all, sameNames(all)
}

func luaFiles(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".lua" {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// sameNames refuses two files with spiders of one name.
func sameNames(all []pushable) error {
	files := map[string]string{}
	for _, p := range all {
		if other := files[p.revision.Spider]; other != "" {
			return usagef("%s and %s are both called %q: a fleet knows a spider by its name; rename one", other, p.file, p.revision.Spider)
		}
		files[p.revision.Spider] = p.file
	}
	return nil
}

// modulesUp is how many folders above a module its spiders are looked for in.
const modulesUp = 3

// requiring are the spiders that require a module: of its folder, and of those above it, since a spider's modules lie in or below its own.
func requiring(module string) ([]pushable, error) {
	folder, name := filepath.Split(filepath.Clean(module))
	folder = cmp.Or(folder, ".")
	for range modulesUp + 1 {
		names, err := luaFiles(folder)
		if err != nil {
			break
		}
		var all []pushable
		for _, main := range names {
			if luabind.IsModule(os.DirFS(folder), main) || !requires(folder, main, name) {
				continue
			}
			one, err := newPushable(folder, main)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		if len(all) > 0 {
			return all, sameNames(all)
		}
		absolute, err := filepath.Abs(folder)
		if err != nil || filepath.Dir(absolute) == absolute {
			break
		}
		name = path.Join(filepath.Base(absolute), name)
		folder = filepath.Join(folder, "..")
	}
	return nil, usagef("%s is no spider (it has no name), and no spider of its folder or of one above it requires it", module)
}

// requires reports whether a spider requires a file of its folder.
func requires(folder, main, file string) bool {
	s, err := luabind.Load(os.DirFS(folder), main, "", luabind.Options{})
	if err != nil {
		return false
	}
	defer s.Close()
	return s.Content().Files[file] != nil
}
