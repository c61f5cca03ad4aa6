package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"luacrawl/engine"
	"luacrawl/luabind"
)

// fixedSettings decide where in Redis a request lies: a crawl cannot change them on its way.
var fixedSettings = []string{"partition", "queue", "start_urls_key", "requests_key", "dupefilter_key", "items_key"}

// reloader puts saved edits of the spider into effect while it runs, and says what came of them. A broken edit leaves everything as it
// was.
type reloader struct {
	logs   *logs
	spider *luabind.Spider
	source source
	put    func(engine.Settings) // puts settings into effect
	// Only the watcher's goroutine.
	effective map[string]any // the spider's settings that are in effect
	late      []string       // what has been edited and holds from the next start on
	startURLs []string       // of the start

	mu        sync.Mutex
	revisions []string // guarded by mu; that have run, in order
	broken    error    // guarded by mu; why the last edit is not in effect, nil when it is
}

func newReloader(s *luabind.Spider, src source, l *logs, put func(engine.Settings)) *reloader {
	return &reloader{logs: l, spider: s, source: src, put: put, effective: s.Settings(), startURLs: s.StartURLs(), revisions: []string{s.Revision()}}
}

// reload takes over what the files hold now.
func (r *reloader) reload() {
	var plan settingsPlan
	done, err := r.spider.Reload(func(settings map[string]any) (err error) {
		plan, err = r.plan(settings)
		return err
	})
	mended := r.note(done, err)
	switch {
	case err != nil:
		r.logs.alarm(fmt.Sprintf("not reloaded, revision %s goes on: %s", short(done.Before), explain(err)))
		return
	case done.Changed():
		r.logs.notice(fmt.Sprintf("reloaded, revision %s -> %s", short(done.Before), short(done.After)))
	case mended:
		r.logs.notice(fmt.Sprintf("mended, revision %s goes on", short(done.After)))
	}
	r.take(plan)
}

// note remembers how a reload ended and reports whether it has mended a broken edit.
func (r *reloader) note(done luabind.Reloaded, err error) (mended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mended = r.broken != nil && err == nil
	r.broken = err
	if done.Changed() {
		r.revisions = append(r.revisions, done.After)
	}
	return mended
}

// settingsPlan is what an edit of settings comes to.
type settingsPlan struct {
	effective map[string]any  // the spider's settings that are to be in effect
	merged    engine.Settings // the same under the outer layers
	now       []string        // names that change now
	late      []string        // names that change at the next start
}

// plan checks the settings of an edit. Those that cannot change are refused; those that cannot change now stay as they are.
func (r *reloader) plan(edited map[string]any) (settingsPlan, error) {
	file := r.source.String()
	if _, err := r.source.layers.merge(file, edited); err != nil {
		return settingsPlan{}, err
	}
	p := settingsPlan{effective: maps.Clone(edited)}
	live := liveSettings()
	for _, name := range engine.ChangedSettings(r.effective, edited) {
		old, had := r.effective[name]
		switch {
		case r.source.layers.decide(name):
		case slices.Contains(fixedSettings, name):
			return settingsPlan{}, fixedError(file, name, old, edited[name])
		case live[name]:
			p.now = append(p.now, name)
			continue
		default:
			p.late = append(p.late, name)
		}
		if delete(p.effective, name); had {
			p.effective[name] = old
		}
	}
	var err error
	p.merged, err = r.source.layers.merge(file, p.effective)
	return p, err
}

func fixedError(file, name string, old, edited any) error {
	return usagef("%s: setting %s was %s and is now %s: a crawl that has requests under the one cannot go on under the other; restore it, or stop all workers and start anew with --fresh",
		file, name, settingText(old), settingText(edited))
}

func settingText(v any) string {
	if v == nil {
		return "the default"
	}
	return fmt.Sprintf("%q", fmt.Sprint(v))
}

// liveSettings are the names that a running crawl takes over.
func liveSettings() map[string]bool {
	live := map[string]bool{}
	for _, d := range engine.SettingDocs() {
		live[d.Name] = d.Live
	}
	return live
}

// take puts a plan into effect and says what it changes, once.
func (r *reloader) take(p settingsPlan) {
	r.effective = p.effective
	r.put(p.merged)
	_ = r.logs.setLevel(p.merged.LogLevel) // merge has checked it
	if len(p.now) > 0 {
		r.logs.notice("in effect from now on: " + strings.Join(p.now, ", "))
	}
	late := p.late
	if !slices.Equal(r.startURLs, r.spider.StartURLs()) {
		late = append(late, "start_urls")
	}
	if !slices.Equal(late, r.late) && len(late) > 0 {
		r.logs.notice("in effect from the next start on: " + strings.Join(late, ", "))
	}
	r.late = late
}

// history are the revisions that have run, in order.
func (r *reloader) history() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.revisions)
}

// unmended says where the last edit is broken, "" when it is in effect.
func (r *reloader) unmended() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var script *engine.ScriptError
	switch {
	case r.broken == nil:
		return ""
	case errors.As(r.broken, &script) && script.Line > 0:
		return fmt.Sprintf("%s:%d", script.File, script.Line)
	case errors.As(r.broken, &script):
		return cmp.Or(script.File, r.source.String())
	}
	return r.source.String()
}
