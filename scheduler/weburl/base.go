package weburl

import "strings"

// Base is an absolute URL prepared for resolving many links against it. It is immutable and safe for concurrent use.
type Base struct {
	href string

	// Of http and https URLs only; the plain path of other schemes is switched off by pathStart 0.
	scheme    string // with its colon
	origin    string // scheme://host[:port], without userinfo
	pathStart int    // of the path's first slash in href
	dirEnd    int    // just past the path's last slash
	pathEnd   int    // of the path in href
	queryEnd  int    // of the query in href: where a fragment starts
}

// ParseBase parses an absolute URL. It returns the errors of Parse.
func ParseBase(raw string) (*Base, error) {
	href, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	b := &Base{href: href}
	if IsHTTP(href) {
		b.measure()
	}
	return b, nil
}

func (b *Base) measure() {
	b.scheme = b.href[:strings.IndexByte(b.href, ':')+1]
	b.origin = b.scheme + "//" + Host(b.href)
	b.pathStart = strings.IndexByte(b.href[len(b.scheme)+2:], '/') + len(b.scheme) + 2
	b.queryEnd = len(StripFragment(b.href))
	b.pathEnd = b.queryEnd
	if q := strings.IndexByte(b.href[:b.queryEnd], '?'); q >= 0 {
		b.pathEnd = q
	}
	b.dirEnd = strings.LastIndexByte(b.href[:b.pathEnd], '/') + 1
}

// String returns the normalised URL.
func (b *Base) String() string { return b.href }

// Resolve returns what a browser makes of a link found on a page with this base, fragment kept. The error names the
// link; it is ErrTooLong for an odd link, or one on a base, of more than MaxLength bytes.
func (b *Base) Resolve(ref string) (string, error) {
	if u, ok := b.resolvePlain(ref); ok {
		return u, nil
	}
	return parseAny(b.href, ref)
}

// resolvePlain resolves links whose bytes all pass unchanged; ok is false for those that need the full parser.
func (b *Base) resolvePlain(ref string) (u string, ok bool) {
	if b.pathStart == 0 {
		return "", false
	}
	if ref == "" {
		return b.href[:b.queryEnd], true
	}
	switch ref[0] {
	case '#':
		return b.append(b.queryEnd, ref, isPlain(ref, fragmentByte))
	case '?':
		return b.append(b.pathEnd, ref, plainTail(ref))
	case '/':
		if len(ref) > 1 && ref[1] == '/' {
			return parsePlain(b.scheme + ref)
		}
		return b.append(b.pathStart, ref, plainTail(ref))
	}
	if hasScheme(ref) {
		return b.resolveAbsolute(ref)
	}
	return b.resolveRelative(ref)
}

// append puts a tail in place of what follows the first n bytes, if the tail is plain.
func (b *Base) append(n int, tail string, plain bool) (string, bool) {
	if !plain {
		return "", false
	}
	return b.href[:n] + tail, true
}

func (b *Base) resolveAbsolute(ref string) (string, bool) {
	n := len(b.origin)
	if len(ref) > n && ref[n] == '/' && ref[:n] == b.origin {
		return ref, plainTail(ref[n:]) // the host is known to be in order
	}
	if u, ok := parsePlain(ref); ok {
		return u, true
	}
	return ref, plainOpaque(ref)
}

func (b *Base) resolveRelative(ref string) (string, bool) {
	dir := b.dirEnd
	for len(ref) > 0 && ref[0] == '.' {
		switch {
		case strings.HasPrefix(ref, "../"):
			dir, ref = b.parent(dir), ref[3:]
		case strings.HasPrefix(ref, "./"):
			ref = ref[2:]
		default:
			return "", false
		}
	}
	return b.append(dir, ref, plainTail(ref))
}

// parent returns where the folder above the one that ends at dir ends; the root is its own parent.
func (b *Base) parent(dir int) int {
	if dir == b.pathStart+1 {
		return dir
	}
	return strings.LastIndexByte(b.href[:dir-1], '/') + 1
}
