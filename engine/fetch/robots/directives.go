package robots

import (
	"strings"
	"time"
)

// Directives is what a page says to crawlers about itself, in <meta name="robots"> and in X-Robots-Tag headers. The zero value
// restricts nothing.
type Directives struct {
	NoIndex          bool
	NoFollow         bool // no link of the page is to be followed
	NoArchive        bool
	UnavailableAfter time.Time // the page is not to be shown from then on; zero: for ever
}

// Merge adds other to d: of two that differ the stricter one holds.
func (d Directives) Merge(other Directives) Directives {
	d.NoIndex = d.NoIndex || other.NoIndex
	d.NoFollow = d.NoFollow || other.NoFollow
	d.NoArchive = d.NoArchive || other.NoArchive
	if d.UnavailableAfter.IsZero() || !other.UnavailableAfter.IsZero() && other.UnavailableAfter.Before(d.UnavailableAfter) {
		d.UnavailableAfter = other.UnavailableAfter
	}
	return d
}

// MayIndex reports whether the page may be kept at the time now.
func (d Directives) MayIndex(now time.Time) bool {
	return !d.NoIndex && (d.UnavailableAfter.IsZero() || now.Before(d.UnavailableAfter))
}

// ParseMeta reads the content of a <meta> element by its name: "robots" is for everyone, token (in any case) for the crawler of
// that name, and other names say nothing to it.
func ParseMeta(name, content, token string) Directives {
	name = strings.TrimSpace(name)
	if !strings.EqualFold(name, "robots") && !isToken(name, token) {
		return Directives{}
	}
	return parseDirectives(content, "", false)
}

// ParseHeader reads the values of X-Robots-Tag. A name with a colon limits what follows it in its value to the crawler of that name:
// "noindex, otherbot: nofollow" is noindex for everyone, and nofollow for otherbot. Unknown words say nothing.
func ParseHeader(values []string, token string) Directives {
	var d Directives
	for _, v := range values {
		d = d.Merge(parseDirectives(v, token, true))
	}
	return d
}

func isToken(name, token string) bool { return token != "" && strings.EqualFold(name, token) }

// valued are the directives that have a colon and a value themselves, and so are no names of crawlers.
var valued = map[string]bool{
	"unavailable_after": true, "max-snippet": true, "max-image-preview": true, "max-video-preview": true,
}

// parseDirectives reads a list with commas. If it is scoped, names of crawlers say for whom the rest is.
func parseDirectives(list, token string, scoped bool) Directives {
	var d Directives
	ours := true
	parts := strings.Split(list, ",")
	for len(parts) > 0 {
		name, value, colon := splitDirective(parts[0])
		if colon && scoped && !valued[name] {
			ours = isToken(name, token)
			parts[0] = value
			continue
		}
		n := 1
		if name == "unavailable_after" {
			var when time.Time
			if when, n = parseDate(value, parts[1:]); ours {
				d = d.Merge(Directives{UnavailableAfter: when})
			}
		} else if ours {
			d = d.Merge(directive(name))
		}
		parts = parts[n:]
	}
	return d
}

func splitDirective(part string) (name, value string, colon bool) {
	name, value, colon = strings.Cut(part, ":")
	return strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value), colon
}

func directive(name string) Directives {
	switch name {
	case "noindex":
		return Directives{NoIndex: true}
	case "nofollow":
		return Directives{NoFollow: true}
	case "noarchive":
		return Directives{NoArchive: true}
	case "none":
		return Directives{NoIndex: true, NoFollow: true}
	}
	return Directives{}
}
