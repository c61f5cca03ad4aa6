package robots

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// What is kept of Sitemap lines. The protocol has URLs of less than 2048 characters.
const (
	maxSitemaps   = 1000
	maxSitemapURL = 2048
)

// longest is what a Crawl-delay counts at most.
const longest = 365 * 24 * time.Hour

// Parse reads a robots.txt. Every body has a meaning: lines that are not understood are passed over, bytes that are not UTF-8 are
// compared as bytes, and what is after MaxSize is not looked at.
func Parse(body []byte) *Rules {
	p := parser{rules: &Rules{}, sitemaps: map[string]bool{}}
	text := decode(body)
	for len(text) > 0 {
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			p.line(text)
			break
		}
		p.line(text[:end])
		text = text[end+1:]
	}
	p.endGroup()
	return p.rules
}

// decode cuts body to size and takes its byte order mark off. A file that is marked as UTF-16 is turned into UTF-8.
func decode(body []byte) string {
	body = cut(body)
	if bytes.HasPrefix(body, []byte{0xFF, 0xFE}) || bytes.HasPrefix(body, []byte{0xFE, 0xFF}) {
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
		if text, _, err := transform.Bytes(utf16.NewDecoder(), body); err == nil {
			body = cut(text)
		}
	}
	return string(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")))
}

// cut takes the lines that end within MaxSize. Half a line could allow or forbid more than the whole one.
func cut(body []byte) []byte {
	if len(body) <= MaxSize {
		return body
	}
	body = body[:MaxSize]
	return body[:bytes.LastIndexAny(body, "\r\n")+1]
}

// parser collects the groups. Only Allow and Disallow end a run of User-agent lines, as RFC 9309 has it; but a Crawl-delay
// belongs to the User-agent lines right above it, since people write it as the only line of a group.
type parser struct {
	rules     *Rules
	group     group
	delayFrom int  // the first of group.agents that the next Crawl-delay is for
	delayed   bool // the last of rules.delays is for the User-agent lines right above
	sitemaps  map[string]bool
}

func (p *parser) line(text string) {
	key, value, ok := splitLine(text)
	if !ok {
		return
	}
	switch kindOf(key) {
	case userAgent:
		p.agent(value)
	case allow:
		p.rule(true, value)
	case disallow:
		p.rule(false, value)
	case crawlDelay:
		p.delay(value)
	case sitemap:
		p.sitemap(value)
	}
}

func (p *parser) agent(value string) {
	if p.group.rules != nil {
		p.endGroup()
	}
	if p.delayed {
		p.delayed, p.delayFrom = false, len(p.group.agents)
	}
	p.group.agents = append(p.group.agents, agentNames(value)...)
}

func (p *parser) endGroup() {
	if len(p.group.agents) > 0 {
		p.rules.groups = append(p.rules.groups, p.group)
	}
	p.group, p.delayFrom, p.delayed = group{}, 0, false
}

// rule adds a line to the group. An empty one ends the run of User-agent lines and says nothing else.
func (p *parser) rule(allow bool, path string) {
	if p.group.rules == nil {
		p.group.rules = []rule{}
	}
	if path != "" {
		p.group.rules = append(p.group.rules, rule{allow, path})
	}
}

func (p *parser) delay(value string) {
	wait, ok := seconds(value)
	if !ok {
		return
	}
	if p.delayed {
		last := &p.rules.delays[len(p.rules.delays)-1]
		last.wait = max(last.wait, wait)
		return
	}
	if agents := p.group.agents[p.delayFrom:]; len(agents) > 0 {
		p.rules.delays = append(p.rules.delays, delay{agents, wait})
		p.delayed = true
	}
}

func (p *parser) sitemap(value string) {
	if value != "" && len(value) <= maxSitemapURL && len(p.rules.sitemaps) < maxSitemaps && !p.sitemaps[value] {
		p.sitemaps[value] = true
		p.rules.sitemaps = append(p.rules.sitemaps, value)
	}
}

// seconds reads a Crawl-delay: a number of seconds, perhaps with a fraction, not negative.
func seconds(value string) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSuffix(value, "s"), 64)
	if math.IsNaN(n) || n < 0 || err != nil && !math.IsInf(n, 1) {
		return 0, false
	}
	if n >= longest.Seconds() {
		return longest, true
	}
	return time.Duration(n * float64(time.Second)), true
}
