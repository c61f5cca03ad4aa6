package engine

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"

	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// allowed applies Scrapy's filters of outgoing requests and counts what it keeps out: URL length, depth, offsite.
func (p *page) allowed(r *scheduler.Request) bool {
	s := p.Settings
	switch {
	case p.tooLong(r):
		p.count(statURLLength, 1)
		p.Logger.Info("a link longer than urllength_limit is not followed", slog.String("url", clip(r.URL)))
	case s.DepthLimit > 0 && r.Depth > s.DepthLimit:
		p.count(statDepth, 1)
	case p.offsite(r):
		p.count(statOffsite, 1)
		p.Logger.Debug("offsite link is not followed", slog.String("url", r.URL))
	default:
		return true
	}
	return false
}

func (p *page) tooLong(r *scheduler.Request) bool {
	return p.Settings.URLLengthLimit > 0 && len(r.URL) > p.Settings.URLLengthLimit
}

// offsite: the host is none of allowed_domains nor below one. As in Scrapy, dont_filter and the meta key allow_offsite let it pass.
func (p *page) offsite(r *scheduler.Request) bool {
	domains := p.Spider.AllowedDomains()
	if len(domains) == 0 || r.DontFilter || metaFlag(r, "allow_offsite") {
		return false
	}
	host := weburl.Hostname(r.URL)
	for _, d := range domains {
		if strings.HasSuffix(host, d) && (len(host) == len(d) || host[len(host)-len(d)-1] == '.') {
			return false
		}
	}
	return true
}

// metaFlag reads a boolean that users put into meta to steer the engine.
func metaFlag(r *scheduler.Request, name string) bool {
	var set bool
	metaValue(r, name, &set)
	return set
}

// metaValue reads one key of meta into v and reports whether it was there and of the right type.
func metaValue(r *scheduler.Request, name string, v any) bool {
	if !bytes.Contains(r.Meta, []byte(name)) {
		return false
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(r.Meta, &meta) != nil || meta[name] == nil {
		return false
	}
	return json.Unmarshal(meta[name], v) == nil
}
