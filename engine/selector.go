package engine

import (
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia"
	lru "github.com/hashicorp/golang-lru/v2"
)

// selectorCacheSize bounds the compiled selectors kept: a script that builds selectors from data must not fill the memory.
const selectorCacheSize = 1024

// maxSelector is the longest selector in bytes.
const maxSelector = 8 << 10

// Selector is a compiled CSS selector, with Scrapy's ::text and ::attr(name). It is safe for concurrent use.
//
// As in parsel, "a::text" is the text nodes that are children of an a, "a ::text" all text nodes below one, and "::text" and
// "::attr(x)" alone take in the element that they are asked of.
type Selector struct {
	source string
	parts  []part // one for each selector of a group "a, b"
}

// part is one selector of a group, and what is taken of its matches.
type part struct {
	match cascadia.Matcher // nil matches every element
	take  taking
	attr  string // for takeAttr
	deep  bool   // take from all elements below a match as well
	self  bool   // a pseudo-element alone: the element asked is a match too
}

type taking int

const (
	takeElement taking = iota
	takeText
	takeAttr
)

var compiledSelectors = newCache[*Selector](selectorCacheSize)

// newCache makes a bounded cache by string.
func newCache[V any](size int) *lru.Cache[string, V] {
	c, err := lru.New[string, V](size)
	if err != nil {
		panic(err) // only a size below 1 is refused
	}
	return c
}

// CompileSelector compiles s, or returns a compiled one from the cache. The error quotes the selector.
func CompileSelector(s string) (*Selector, error) {
	if sel, ok := compiledSelectors.Get(s); ok {
		return sel, nil
	}
	if len(s) > maxSelector {
		return nil, fmt.Errorf("css selector %q...: it has %d bytes, more than %d", s[:40], len(s), maxSelector)
	}
	s = strings.Clone(s) // which may be a piece of a page
	sel, err := compileSelector(s)
	if err != nil {
		return nil, fmt.Errorf("css selector %q: %w", s, err)
	}
	compiledSelectors.Add(s, sel)
	return sel, nil
}

// String is the selector's source.
func (s *Selector) String() string { return s.source }

func compileSelector(s string) (*Selector, error) {
	sel := &Selector{source: s}
	for _, source := range splitGroup(s) {
		p, err := compilePart(source)
		if err != nil {
			return nil, err
		}
		sel.parts = append(sel.parts, p)
	}
	return sel, nil
}

// compilePart compiles one selector without commas.
func compilePart(source string) (part, error) {
	css, pseudo, found := cutPseudo(source)
	if !found {
		m, err := compileMatcher(strings.Trim(css, htmlSpace))
		return part{match: m}, err
	}
	p, err := parsePseudo(pseudo)
	if err != nil {
		return p, err
	}
	trimmed := strings.Trim(css, htmlSpace)
	if trimmed == "" || trimmed == "*" {
		p.self = true
		return p, nil
	}
	// "a ::text" and "a *::text" are the same: XPath's a/descendant-or-self::text().
	if rest := strings.TrimSuffix(trimmed, "*"); rest != trimmed && endsInSpace(rest) && !endsInCombinator(rest) {
		trimmed, p.deep = strings.TrimRight(rest, htmlSpace), true
	} else if endsInCombinator(css) {
		trimmed += "*"
	} else if endsInSpace(css) {
		p.deep = true
	}
	p.match, err = compileMatcher(trimmed)
	return p, err
}

// compileMatcher compiles a selector without pseudo-elements.
func compileMatcher(css string) (cascadia.Matcher, error) {
	if s, ok := parseSimple(css); ok {
		return s, nil
	}
	m, err := cascadia.Compile(css) // the form that goquery takes
	if err != nil {
		return nil, err
	}
	return m, nil
}

// parsePseudo reads what follows "::".
func parsePseudo(s string) (part, error) {
	s = strings.TrimRight(s, htmlSpace)
	if s == "text" {
		return part{take: takeText}, nil
	}
	if name, ok := strings.CutPrefix(s, "attr("); ok && strings.HasSuffix(name, ")") {
		name = strings.Trim(name[:len(name)-1], htmlSpace)
		if name != "" && !strings.ContainsAny(name, " \t\n\f\r\"'()[]<>=") {
			return part{take: takeAttr, attr: name}, nil
		}
		return part{}, fmt.Errorf("::attr(%s) needs the bare name of an attribute, as in ::attr(href)", name)
	}
	return part{}, fmt.Errorf("unknown pseudo-element ::%s (known: ::text, ::attr(name))", s)
}

// htmlSpace is ASCII white space as HTML and CSS have it.
const htmlSpace = " \t\n\f\r"

func endsInSpace(s string) bool {
	return s != "" && strings.IndexByte(htmlSpace, s[len(s)-1]) >= 0
}

func endsInCombinator(s string) bool {
	s = strings.TrimRight(s, htmlSpace)
	return s != "" && strings.IndexByte(">+~", s[len(s)-1]) >= 0
}

// splitGroup splits at the commas that are not within brackets or strings.
func splitGroup(s string) []string {
	var parts []string
	start := 0
	for i := range topLevel(s) {
		if s[i] == ',' {
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// cutPseudo cuts at the first "::" that is not within brackets or strings.
func cutPseudo(s string) (css, pseudo string, found bool) {
	for i := range topLevel(s) {
		if strings.HasPrefix(s[i:], "::") {
			return s[:i], s[i+2:], true
		}
	}
	return s, "", false
}

// topLevel yields the places in s that are not within brackets or strings, nor escaped.
func topLevel(s string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		depth, quote := 0, byte(0)
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '(' || c == '[':
				depth++
			case c == ')' || c == ']':
				depth--
			case depth == 0 && !yield(i):
				return
			}
		}
	}
}
