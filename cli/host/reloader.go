package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/scheduler"
)

// Reloader puts edits of a spider and live settings into effect while it runs, and says what came of them. A broken edit leaves
// everything as it was.
type Reloader struct {
	voice  Voice
	spider *luabind.Spider
	put    func(engine.Settings) // puts settings into effect

	working   sync.Mutex     // held over one edit or live settings from start to end
	layers    Layers         // guarded by working
	file      string         // guarded by working; names the spider in errors
	effective map[string]any // guarded by working; the spider's settings that are in effect
	late      []string       // guarded by working; what has been edited and holds from the next start on
	startURLs []string       // guarded by working; of the start
	refused   string         // guarded by working; what was said of live settings that cannot be

	mu        sync.Mutex
	revisions []string // guarded by mu; that have run, in order
	unmended  string   // guarded by mu; where the last edit is broken, "" when it is in effect
}

func newReloader(s *luabind.Spider, src Source, v Voice, put func(engine.Settings)) *Reloader {
	return &Reloader{voice: v, spider: s, layers: src.Layers, file: src.String(), put: put, effective: s.Settings(), startURLs: s.StartURLs(), revisions: []string{s.Revision()}}
}

// Reload takes over what the files hold now.
func (r *Reloader) Reload() { _ = r.edit("", r.spider.Reload) }

// Take takes a revision over; older is luabind's. The error says why the last good revision goes on.
func (r *Reloader) Take(rev *scheduler.Revision, older luabind.Older) error {
	return r.edit(rev.Main, func(accept func(map[string]any) error) (luabind.Reloaded, error) {
		return r.spider.ReloadRevision(rev, older, accept)
	})
}

// Refuse notes an edit that could not even be had.
func (r *Reloader) Refuse(err error) {
	_ = r.edit("", func(func(map[string]any) error) (luabind.Reloaded, error) {
		return luabind.Reloaded{Before: r.spider.Revision(), After: r.spider.Revision()}, err
	})
}

// edit is one edit. file names the spider in errors from now on; "" is no other.
func (r *Reloader) edit(file string, reload func(accept func(map[string]any) error) (luabind.Reloaded, error)) error {
	r.working.Lock()
	defer r.working.Unlock()
	r.file = cmp.Or(file, r.file)
	var plan settingsPlan
	done, err := reload(func(settings map[string]any) (err error) {
		plan, err = r.layers.planSettings(r.file, r.effective, settings, file != "")
		return err
	})
	if pipelines := (*luabind.PipelinesChangedError)(nil); file != "" && errors.As(err, &pipelines) {
		return err // of a push: the crawl is begun again with it
	}
	mended := r.note(done, err)
	switch {
	case err != nil:
		r.voice.Alarm(fmt.Sprintf("not reloaded, revision %s goes on: %s", done.Before, r.voice.Explain(err)))
		return err
	case done.Changed():
		r.voice.Notice(fmt.Sprintf("reloaded, revision %s -> %s", done.Before, done.After))
	case mended:
		r.voice.Notice(fmt.Sprintf("mended, revision %s goes on", done.After))
	}
	r.take(plan)
	return nil
}

// note remembers how a reload ended and reports whether it has mended a broken edit. The caller holds working.
func (r *Reloader) note(done luabind.Reloaded, err error) (mended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mended = r.unmended != "" && err == nil
	r.unmended = whereBroken(err, r.file)
	if done.Changed() {
		r.revisions = append(r.revisions, done.After)
	}
	return mended
}

// take puts a plan into effect and says what it changes, once. The caller holds working.
func (r *Reloader) take(p settingsPlan) {
	r.effective = p.effective
	r.put(p.merged)
	_ = r.voice.SetLevel(p.merged.LogLevel) // Merge has checked it
	if len(p.now) > 0 {
		r.voice.Notice("in effect from now on: " + strings.Join(p.now, ", "))
	}
	late := p.late
	if !slices.Equal(r.startURLs, r.spider.StartURLs()) {
		late = append(late, "start_urls")
	}
	if !slices.Equal(late, r.late) && len(late) > 0 {
		r.voice.Notice("in effect from the next start on: " + strings.Join(late, ", "))
	}
	r.late = late
}

// History are the revisions that have run, in order.
func (r *Reloader) History() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.revisions)
}

// Unmended says where the last edit is broken, "" when it is in effect.
func (r *Reloader) Unmended() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unmended
}

// whereBroken is the place that an error of an edit names, file when it names none.
func whereBroken(err error, file string) string {
	var script *engine.ScriptError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &script) && script.Line > 0:
		return fmt.Sprintf("%s:%d", script.File, script.Line)
	case errors.As(err, &script):
		return cmp.Or(script.File, file)
	}
	return file
}
