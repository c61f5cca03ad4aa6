package luabind

import (
	"context"
	"io/fs"
	"log/slog"
	"maps"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	lookEvery  = 500 * time.Millisecond // without a word from the system: network mounts send none
	lookAfter  = 20 * time.Millisecond  // of a word from the system, more of which follow within microseconds
	settleTime = 50 * time.Millisecond  // for which files must stay the same: a save is many writes
	returnTime = time.Second            // in which a file that is gone or empty may come back: editors rename, or cut and write
	youngFor   = 2 * time.Second        // a file changed so lately may change again without its time changing
)

// Watcher tells when the files of a spider no longer hold what its last load or Reload has read. These are its own file and the modules
// that it requires, also those that were not found. What counts is their content: a file that is touched, or saved as it
// was, is no change. The system's word (inotify and the like) makes it quick; where none comes it looks twice a second.
type Watcher struct {
	spider  *Spider
	folder  string // of the spider's file system on disk; "" hears no word of the system
	changed func()
	logger  *slog.Logger

	// Only Run's goroutine.
	looked    map[string]looked
	different fileSet   // what the last look found, nil when it was what the spider has read
	since     time.Time // when it found this first
	notices   *notices
}

// looked is the last look at a file: it is not read again while its time and size say that it is the same.
type looked struct {
	changed time.Time
	size    int64
	at      time.Time
	content content
}

// NewWatcher makes a watcher of a spider that was loaded from os.DirFS(folder). changed is called from Run's goroutine, one call at a
// time, and should Reload the spider. It does nothing until Run.
func NewWatcher(s *Spider, folder string, changed func(), logger *slog.Logger) *Watcher {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Watcher{spider: s, folder: folder, changed: changed, logger: logger, looked: map[string]looked{}}
}

// Run watches until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	w.notices = openNotices(w.folder, w.logger)
	defer w.notices.close()
	return w.watch(ctx, w.notices.events(), w.notices.errors())
}

// watch looks when the timer says so, and the system's word sets the timer.
func (w *Watcher) watch(ctx context.Context, events <-chan fsnotify.Event, errs <-chan error) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := time.Now()
	soon := func() {
		if at := time.Now().Add(lookAfter); at.Before(next) {
			next = at
			timer.Reset(lookAfter)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-events:
			soon()
		case err := <-errs: // of words that got lost
			w.logger.Debug("watching the spider's files", "error", err)
			soon()
		case <-timer.C:
			wait := w.look(time.Now())
			next = time.Now().Add(wait)
			timer.Reset(wait)
		}
	}
}

// look compares the files with what the spider has read and says how long to wait before the next look.
func (w *Watcher) look(now time.Time) time.Duration {
	known := w.spider.files()
	w.notices.follow(known)
	present := w.read(known, now)
	switch {
	case maps.Equal(present, known):
		w.different = nil
		return lookEvery
	case !maps.Equal(present, w.different):
		w.different, w.since = present, now
		return settleTime
	case halfSaved(known, present) && now.Sub(w.since) < returnTime:
		return settleTime
	}
	w.different = nil
	w.changed()
	return settleTime
}

// halfSaved reports whether a file that held something is gone or empty, as for a moment in the middle of a save.
func halfSaved(before, present fileSet) bool {
	for name, was := range before {
		if is := present[name]; was.state == filled && (is.state == absent || is.state == blank) {
			return true
		}
	}
	return false
}

// read takes in what the files hold now.
func (w *Watcher) read(files fileSet, now time.Time) fileSet {
	present := make(fileSet, len(files))
	for name := range files {
		present[name] = w.readFile(name, now)
	}
	maps.DeleteFunc(w.looked, func(name string, _ looked) bool { _, known := files[name]; return !known })
	return present
}

func (w *Watcher) readFile(name string, now time.Time) content {
	info, err := fs.Stat(w.spider.origin.fsys, name)
	if err != nil {
		delete(w.looked, name)
		return contentOf(nil, err)
	}
	last, known := w.looked[name]
	if known && last.changed.Equal(info.ModTime()) && last.size == info.Size() && last.at.Sub(last.changed).Abs() > youngFor {
		return last.content
	}
	c := contentOf(fs.ReadFile(w.spider.origin.fsys, name))
	w.looked[name] = looked{info.ModTime(), info.Size(), now, c}
	return c
}
