package robots

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// storedVersion begins what Store writes. Another one is another form, which is not read.
const storedVersion = "robots1"

// maxStored is what Load reads at most: MaxSize of rules, with a little for the header.
const maxStored = 512 << 10

// Letters that begin the lines of a stored policy.
const (
	storedAllow    = 'a'
	storedDisallow = 'd'
	storedDelay    = 'c' // nanoseconds
	storedSitemap  = 's'
)

// Store gives the policy as text for Load, cut down to what concerns the crawler named token; never more than 512 KiB. The text is
// one line with version, kind of access, status and token, and a line for each rule, delay and sitemap, with a letter before it.
func (p Policy) Store(token string) []byte {
	token = strings.ToLower(token)
	out := fmt.Appendf(nil, "%s %d %d %q\n", storedVersion, p.access, p.status, token)
	if p.rules == nil {
		return out
	}
	own := p.rules.of(token)
	for _, r := range own.rules {
		letter := byte(storedDisallow)
		if r.allow {
			letter = storedAllow
		}
		out = appendLine(out, letter, r.path)
	}
	if wait, ok := own.wait(); ok {
		out = appendLine(out, storedDelay, strconv.FormatInt(int64(wait), 10))
	}
	for _, s := range p.rules.sitemaps {
		out = appendLine(out, storedSitemap, s)
	}
	return out
}

func appendLine(out []byte, letter byte, text string) []byte {
	out = append(out, letter)
	out = append(out, text...)
	return append(out, '\n')
}

// Load reads what Store has written for token. An error (another version, another token, a damaged text) means that the host has
// to be asked again.
func Load(data []byte, token string) (Policy, error) {
	token = strings.ToLower(token)
	if len(data) > maxStored {
		return Policy{}, fmt.Errorf("stored robots policy has %d bytes, more than %d", len(data), maxStored)
	}
	head, lines, ok := strings.Cut(string(data), "\n")
	if !ok {
		return Policy{}, errors.New("stored robots policy has no first line that ends")
	}
	p, err := loadHead(head, token)
	if err != nil {
		return Policy{}, err
	}
	if lines == "" && p.access != byRules {
		return p, nil
	}
	p.rules, err = loadRules(lines)
	return p, err
}

func loadHead(head, token string) (Policy, error) {
	var (
		p              Policy
		version, owner string
	)
	if _, err := fmt.Sscanf(head, "%s %d %d %q", &version, &p.access, &p.status, &owner); err != nil || version != storedVersion || p.access > disallowAll {
		return Policy{}, fmt.Errorf("stored robots policy begins with %.40q, not with %q and its fields", head, storedVersion)
	}
	if owner != token {
		return Policy{}, fmt.Errorf("stored robots policy is for %q, not for %q", owner, token)
	}
	return p, nil
}

// loadRules makes one group for everyone of lines.
func loadRules(lines string) (*Rules, error) {
	g := group{agents: []string{"*"}}
	r := &Rules{}
	for n := 2; lines != ""; n++ {
		line, rest, ended := strings.Cut(lines, "\n")
		if !ended || len(line) < 2 {
			return nil, fmt.Errorf("stored robots policy: line %d is not whole", n)
		}
		switch value := line[1:]; line[0] {
		case storedAllow, storedDisallow:
			g.rules = append(g.rules, rule{line[0] == storedAllow, value})
		case storedDelay:
			wait, err := strconv.ParseInt(value, 10, 64)
			if err != nil || wait < 0 {
				return nil, fmt.Errorf("stored robots policy: line %d: %.40q is not a delay", n, value)
			}
			r.delays = append(r.delays, delay{g.agents, time.Duration(wait)})
		case storedSitemap:
			r.sitemaps = append(r.sitemaps, value)
		default:
			return nil, fmt.Errorf("stored robots policy: line %d begins with %q", n, line[0])
		}
		lines = rest
	}
	r.groups = []group{g}
	return r, nil
}
