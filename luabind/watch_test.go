package luabind

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// files is a file system in memory that may be edited while it is read. Times of files are those of the bubble.
type files struct {
	mu sync.Mutex
	m  fstest.MapFS // guarded by mu
}

func (f *files) Open(name string) (fs.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.m.Open(name)
}

func (f *files) write(name, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.m[name] = &fstest.MapFile{Data: []byte(text), ModTime: time.Now()}
}

func (f *files) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.m, name)
}

const requiring = "local m = require 'm'\n" + goodSpider

// watchedFolder is a spider that a Watcher reloads.
type watchedFolder struct {
	*files
	spider *Spider
	events chan fsnotify.Event

	mu    sync.Mutex
	calls []time.Duration // guarded by mu; when the watcher saw changes
	err   error           // guarded by mu; of the last reload
}

// watch starts a watcher in a bubble.
func watch(t *testing.T) *watchedFolder {
	t.Helper()
	w := &watchedFolder{files: &files{m: fstest.MapFS{}}, events: make(chan fsnotify.Event)}
	w.write("a.lua", requiring)
	w.write("m.lua", "return 1")
	var err error
	if w.spider, err = Load(w.files, "a.lua", "", Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.spider.Close)
	start := time.Now()
	changed := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls = append(w.calls, time.Since(start))
		_, w.err = w.spider.Reload(nil)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go NewWatcher(w.spider, "", changed, nil).watch(ctx, w.events, nil)
	<-time.After(5 * time.Second) // of the bubble: files are no longer young
	synctest.Wait()
	return w
}

// after lets time pass in the bubble and returns how many changes the watcher has seen so far.
func (w *watchedFolder) after(d time.Duration) int {
	<-time.After(d)
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.calls)
}

func want(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d changes seen, want %d", what, got, want)
	}
}

func TestWatcherSeesContents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(w *watchedFolder)
		want int // changes seen within a second
	}{
		"nothing":           {func(*watchedFolder) {}, 0},
		"the spider":        {func(w *watchedFolder) { w.write("a.lua", requiring+"-- 2") }, 1},
		"a module":          {func(w *watchedFolder) { w.write("m.lua", "return 2") }, 1},
		"as long as before": {func(w *watchedFolder) { w.write("m.lua", "return 3") }, 1},
		"both":              {func(w *watchedFolder) { w.write("m.lua", "return 2"); w.write("a.lua", requiring+"-- 2") }, 1},
		"touched":           {func(w *watchedFolder) { w.write("a.lua", requiring) }, 0},
		"a file beside":     {func(w *watchedFolder) { w.write("n.lua", "return 2") }, 0},
		"a broken save":     {func(w *watchedFolder) { w.write("a.lua", "return {{") }, 1},
		"a save in two steps": {func(w *watchedFolder) {
			w.write("a.lua", "")
			<-time.After(30 * time.Millisecond)
			w.write("a.lua", requiring+"--")
		}, 1},
		"renamed away and back": {func(w *watchedFolder) {
			w.remove("a.lua")
			<-time.After(30 * time.Millisecond)
			w.write("a.lua", requiring+"--")
		}, 1},
		"the same comes back": {func(w *watchedFolder) {
			w.remove("m.lua")
			<-time.After(700 * time.Millisecond)
			w.write("m.lua", "return 1")
		}, 0},
		"a long write": {func(w *watchedFolder) {
			for i := range 30 {
				w.write("a.lua", fmt.Sprint(requiring, "-- ", i))
				<-time.After(20 * time.Millisecond)
			}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := watch(t)
				c.edit(w)
				want(t, name, w.after(time.Second-time.Millisecond), c.want)
				want(t, name+", later", w.after(time.Minute), c.want)
			})
		})
	}
}

// TestWatcherAfterAWordOfTheSystem is quick, and does not look at each of many words.
func TestWatcherAfterAWordOfTheSystem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		w.write("a.lua", requiring+"-- 2")
		for range 100 {
			w.events <- fsnotify.Event{Name: "a.lua", Op: fsnotify.Write}
		}
		want(t, "a word", w.after(lookAfter+settleTime), 1)
	})
}

// TestWatcherOfAFileThatIsGone waits whether it comes back, then tells; it comes back later too.
func TestWatcherOfAFileThatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		w.remove("m.lua")
		want(t, "just gone", w.after(returnTime/2), 0)
		want(t, "gone", w.after(2*time.Second), 1)
		if w.err == nil {
			t.Error("a spider without its module was taken")
		}
		want(t, "still gone", w.after(time.Minute), 1)
		w.write("m.lua", "return 5")
		want(t, "back", w.after(time.Second), 2)
		if w.err != nil {
			t.Errorf("back: %v", w.err)
		}
	})
}

// TestWatcherFollowsRequires: a module counts from the edit on that requires it, even one that is not there yet.
func TestWatcherFollowsRequires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch(t)
		w.write("a.lua", "require 'later'\n"+requiring)
		want(t, "a missing module", w.after(time.Second), 1)
		w.write("later.lua", "return 1")
		want(t, "it comes", w.after(time.Second), 2)
		w.write("later.lua", "return 2")
		want(t, "it changes", w.after(time.Second), 3)
		if w.err != nil {
			t.Errorf("at the end: %v", w.err)
		}
		w.write("a.lua", goodSpider)
		want(t, "no module", w.after(time.Second), 4)
		w.write("later.lua", "return 3")
		want(t, "a module that counts no more", w.after(time.Second), 4)
	})
}

// TestWatcherSeesWhatWasSavedBeforeIt: between the load and the watcher's start nothing gets lost.
func TestWatcherSeesWhatWasSavedBeforeIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "a.lua")
	save(t, path, goodSpider)
	s, err := Load(os.DirFS(folder), "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	save(t, path, goodSpider+"-- 2")
	reloads := run(t, s, folder)
	reloads.wait(t, "the save before the start")
}

func save(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reloads tells of each reload that was good.
type reloads chan string

// run starts a watcher of real files.
func run(t *testing.T, s *Spider, folder string) reloads {
	t.Helper()
	done := make(reloads, 100)
	w := NewWatcher(s, folder, func() {
		r, err := s.Reload(nil)
		if err == nil && r.Changed() {
			done <- r.After
		}
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); ended.Wait() })
	return done
}

func (r reloads) wait(t *testing.T, what string) {
	t.Helper()
	select {
	case <-r:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s: no reload", what)
	}
}

// TestWatcherOfRealFiles saves as editors and deployments do.
func TestWatcherOfRealFiles(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	outside, folder := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(folder, filepath.FromSlash(name)) }
	must(os.MkdirAll(at("lib"), 0o700))
	must(os.MkdirAll(filepath.Join(outside, "v1"), 0o700))
	must(os.MkdirAll(filepath.Join(outside, "v2"), 0o700))
	save(t, filepath.Join(outside, "linked.lua"), "return 1")
	save(t, filepath.Join(outside, "v1", "swapped.lua"), "return 1")
	save(t, filepath.Join(outside, "v2", "swapped.lua"), "return 2")
	must(os.Symlink(filepath.Join(outside, "linked.lua"), at("linked.lua")))
	must(os.Symlink(filepath.Join(outside, "v1"), at("current")))
	main := "require 'lib.deep' require 'linked' require 'current.swapped'\n" + goodSpider
	save(t, at("a.lua"), main)
	save(t, at("lib/deep.lua"), "return 1")
	s, err := Load(os.DirFS(folder), "a.lua", "", Options{})
	must(err)
	t.Cleanup(s.Close)
	reloads := run(t, s, folder)

	for _, step := range []struct {
		what string
		edit func()
	}{
		{"written in place", func() { save(t, at("a.lua"), main+"-- 2") }},
		{"a module in a folder", func() { save(t, at("lib/deep.lua"), "return 2") }},
		{"renamed over", func() { save(t, at("a.lua.new"), main+"-- 3"); must(os.Rename(at("a.lua.new"), at("a.lua"))) }},
		{"renamed over again", func() { save(t, at("a.lua.new"), main+"-- 4"); must(os.Rename(at("a.lua.new"), at("a.lua"))) }},
		{"backed up and written anew", func() { must(os.Rename(at("a.lua"), at("a.lua~"))); save(t, at("a.lua"), main+"-- 5") }},
		{"behind a symlink", func() { save(t, filepath.Join(outside, "linked.lua"), "return 2") }},
		{"a symlink that is swapped", func() {
			must(os.Symlink(filepath.Join(outside, "v2"), at("next")))
			must(os.Rename(at("next"), at("current")))
		}},
		{"behind the new symlink", func() { save(t, filepath.Join(outside, "v2", "swapped.lua"), "return 3") }},
		{"a folder that is replaced", func() {
			must(os.Rename(at("lib"), at("old")))
			must(os.Mkdir(at("lib"), 0o700))
			save(t, at("lib/deep.lua"), "return 3")
		}},
		{"in the new folder", func() { save(t, at("lib/deep.lua"), "return 4") }},
	} {
		step.edit()
		reloads.wait(t, step.what)
	}
}

// TestWatcherHearsTheSystem: with the system's word a save is seen well before the next look.
func TestWatcherHearsTheSystem(t *testing.T) {
	t.Parallel()
	folder, outside := t.TempDir(), t.TempDir()
	save(t, filepath.Join(folder, "a.lua"), requiring)
	save(t, filepath.Join(outside, "m.lua"), "return 1")
	if err := os.Symlink(filepath.Join(outside, "m.lua"), filepath.Join(folder, "m.lua")); err != nil {
		t.Fatal(err)
	}
	s, err := Load(os.DirFS(folder), "a.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	n := openNotices(folder, nil)
	if n == nil {
		t.Fatal("no word from this system")
	}
	defer n.close()
	n.follow(s.files())
	n.follow(s.files())
	if got := n.watcher.WatchList(); len(got) != 2 || !slices.Contains(got, folder) || !slices.Contains(got, outside) {
		t.Errorf("watching %v, want %s and %s", got, folder, outside)
	}
	for _, path := range []string{filepath.Join(folder, "a.lua"), filepath.Join(outside, "m.lua")} {
		save(t, path, "return 2")
		select {
		case <-n.events():
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the system said nothing", path)
		}
	}
	n.follow(fileSet{"a.lua": {}})
	if got := n.watcher.WatchList(); len(got) != 1 || got[0] != folder {
		t.Errorf("watching %v, want %s", got, folder)
	}
}
