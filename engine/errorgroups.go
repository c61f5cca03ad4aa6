package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	tellErrorsEvery = time.Minute
	mostErrorGroups = 1000 // a script that makes up places or messages fills no memory
	mostRevisions   = 100  // of a group that are told in full
)

// ScriptAttr is the group of attributes of a log record that say where in a script an error was raised: kind, file, line, source (with a
// caret below), traceback.
const ScriptAttr = "script"

// ErrorGroup is all errors of a run that scripts raised at one place in one way.
type ErrorGroup struct {
	Reason string       // as dead letters have it: callback_error, bad_seed, process_item_error
	Err    *ScriptError // the first one, of the newest revision
	URL    string       // of its page, or its seed
	Count  int64
}

// String names the group: "callback_error spiders/a.lua:12".
func (g *ErrorGroup) String() string {
	s := g.Reason
	if g.Err.Kind != "error" {
		s += " (" + g.Err.Kind + ")"
	}
	if place := g.Err.Place(); place != "" {
		s += " " + place
	}
	return s
}

// errorKey is what errors of one group have in common.
type errorKey struct{ reason, kind, place string }

// errorGroups counts what scripts raise. It logs the first error of each group in full, again when the spider has changed, and the others once
// a minute as a number.
type errorGroups struct {
	logger *slog.Logger

	mu     sync.Mutex
	groups map[errorKey]*errorGroup // guarded by mu
	told   time.Time                // guarded by mu; when the numbers were last logged
}

type errorGroup struct {
	ErrorGroup
	revisions []string // that were logged in full
	more      int64    // that were not logged yet
}

func newErrorGroups(l *slog.Logger) *errorGroups {
	return &errorGroups{logger: l, groups: map[errorKey]*errorGroup{}, told: time.Now()}
}

// Run logs the numbers every minute until ctx ends.
func (e *errorGroups) Run(ctx context.Context) error {
	ticker := time.NewTicker(tellErrorsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			e.tell(now)
		}
	}
}

// add counts an error. url is the page's, or the seed.
func (e *errorGroups) add(reason, url string, err *ScriptError) {
	if err.Line > 0 {
		e.count(errorKey{reason, err.Kind, err.Place()}, url, err)
		return
	}
	e.count(errorKey{reason, err.Kind, err.File + ": " + clip(err.Message)}, url, err)
}

func (e *errorGroups) count(key errorKey, url string, err *ScriptError) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g := e.groups[key]
	if g == nil {
		if len(e.groups) >= mostErrorGroups {
			key, err = errorKey{reason: key.reason}, &ScriptError{Kind: "error", Message: "errors at other places"}
		}
		if g = e.groups[key]; g == nil {
			g = &errorGroup{ErrorGroup: ErrorGroup{Reason: key.reason}}
			e.groups[key] = g
		}
	}
	g.Count++
	if slices.Contains(g.revisions, err.Revision) || len(g.revisions) >= mostRevisions {
		g.more++
		e.logger.Debug(g.String(), slog.String("url", url), slog.String("error", err.Error()))
		return
	}
	g.revisions = append(g.revisions, err.Revision)
	g.Err, g.URL = err, url
	e.logger.Error(g.String(), slog.String("error", err.Error()), slog.String("url", url), slog.String("revision", err.Revision),
		slog.Group(ScriptAttr, slog.String("kind", err.Kind), slog.String("file", err.File), slog.Int("line", err.Line),
			slog.String("source", err.Excerpt()), slog.String("traceback", err.Traceback)))
}

// tell logs how many errors have come in each group beside those that were logged.
func (e *errorGroups) tell(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	over := "minute"
	if passed := now.Sub(e.told).Round(time.Second); passed != tellErrorsEvery {
		over = passed.String()
	}
	e.told = now
	for _, g := range e.sorted() {
		if g.more == 0 {
			continue
		}
		e.logger.Error(fmt.Sprintf("%s: %d more in the last %s", g, g.more, over), slog.Int64("more", g.more), slog.Int64("total", g.Count))
		g.more = 0
	}
}

// sorted has the most frequent first. It is called with mu held.
func (e *errorGroups) sorted() []*errorGroup {
	list := make([]*errorGroup, 0, len(e.groups))
	for _, g := range e.groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *errorGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.String(), b.String()), cmp.Compare(a.Err.Message, b.Err.Message))
	})
	return list
}

// list is all groups, the most frequent first.
func (e *errorGroups) list() []ErrorGroup {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []ErrorGroup
	for _, g := range e.sorted() {
		list = append(list, g.ErrorGroup)
	}
	return list
}
