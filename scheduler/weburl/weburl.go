// Package weburl reads URLs as browsers do (WHATWG URL) and as scrapy-redis does (w3lib's canonical form).
//
// A crawl resolves and fingerprints every link of every page, so both jobs have two ways through: a plain path for
// links of ordinary characters, which costs one pass and at most the result, and a full one for everything else.
// Tests hold the two equal.
package weburl

import (
	"errors"
	"fmt"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// MaxLength is the longest URL, in bytes, that is read when it needs the full parser, whose time grows with the square
// of the length. It is the longest request line that most web servers take. Plain URLs may be longer.
const MaxLength = 8 << 10

// ErrTooLong is returned for a URL or link of more than MaxLength bytes that is not plain.
var ErrTooLong = errors.New("longer than 8 KB")

// Parse returns the normalised form of an absolute URL of any scheme, as WHATWG's URL parser gives it: host in lower
// case and punycode, own port left out, dot segments resolved, fragment kept. The error names the URL.
func Parse(raw string) (string, error) {
	if u, ok := parsePlain(raw); ok {
		return u, nil
	}
	return parseAny("", raw)
}

// parseAny reads any link against a normalised base, or an absolute URL when base is empty.
// The library indexes out of range on some broken IPv6 hosts, hence the recover.
func parseAny(base, ref string) (href string, err error) {
	if len(base) > MaxLength || len(ref) > MaxLength {
		return "", invalid(ref, ErrTooLong)
	}
	defer func() {
		if r := recover(); r != nil {
			href, err = "", invalid(ref, fmt.Errorf("unreadable: %v", r))
		}
	}()
	// The base is parsed again each time: the library's base is not safe for concurrent use.
	u, err := whatwg.ParseRef(base, ref)
	if err != nil {
		return "", invalid(ref, err)
	}
	return u.Href(false), nil
}

func invalid(raw string, err error) error {
	const shown = 200
	if len(raw) > shown {
		raw = raw[:shown] + "..."
	}
	return fmt.Errorf("url %q: %w", raw, err)
}
