package host

import (
	"maps"
	"time"
)

// status is how it does, and the version of the entry that it was told of last.
func (r *resident) status(now time.Time) (Status, int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Status{Spider: r.name, Revision: r.shown, Progress: r.last}
	if r.crawl != nil {
		s.Progress = r.crawl.Progress()
	}
	s.Rate = r.rates.Add(now, s.Progress.Pages)
	switch {
	case r.broken != nil:
		s.Error, s.Broken = r.broken.Error(), whereBroken(r.broken, "the newest revision")
	case r.unread != nil:
		s.Error = r.unread.Error()
	case r.trouble != nil:
		s.Error = r.trouble.Error()
	}
	return s, r.version
}

// watched is its status with its counters, which do not fall when a crawl ends and the next begins.
func (r *resident) watched() Watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Watched{Status{Spider: r.name, Revision: r.shown, Progress: r.last}, maps.Clone(r.stats)}
	if r.crawl != nil {
		s.Progress = r.crawl.Progress()
		addStats(s.Stats, r.crawl.engine.Stats())
	}
	if r.broken != nil {
		s.Broken = whereBroken(r.broken, "the newest revision")
	}
	return s
}

func addStats(to, more map[string]int64) {
	for name, by := range more {
		to[name] += by
	}
}
