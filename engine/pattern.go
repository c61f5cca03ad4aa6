package engine

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// patternCacheSize bounds the compiled patterns kept.
const patternCacheSize = 1024

// Pattern is a Go regular expression that matches anywhere in a string. It is safe for concurrent use.
//
// Most patterns of link filters are a plain text with at most one anchor, `\.html$` say: these need no regular expression
// machine.
type Pattern struct {
	re      *regexp.Regexp // nil when literal says it all
	literal string
	test    func(s, literal string) bool
}

var compiledPatterns = newCache[*Pattern](patternCacheSize)

// CompilePattern compiles expr, or returns a compiled one from the cache. The error quotes the expression.
func CompilePattern(expr string) (*Pattern, error) {
	if p, ok := compiledPatterns.Get(expr); ok {
		return p, nil
	}
	expr = strings.Clone(expr) // which may be a piece of a page
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w (Go regular expressions: https://pkg.go.dev/regexp/syntax)", expr, err)
	}
	p := plainPattern(expr)
	if p == nil {
		p = &Pattern{re: re}
	}
	compiledPatterns.Add(expr, p)
	return p, nil
}

// Match reports whether s has a match.
func (p *Pattern) Match(s string) bool {
	if p.re != nil {
		return p.re.MatchString(s)
	}
	return p.test(s, p.literal)
}

// plainPattern is the pattern of a literal, with or without an anchor at one end; nil for any other expression.
func plainPattern(expr string) *Pattern {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	parts := []*syntax.Regexp{parsed}
	if parsed.Op == syntax.OpConcat {
		parts = parsed.Sub
	}
	p := &Pattern{test: strings.Contains}
	if n := len(parts); n == 2 && parts[0].Op == syntax.OpBeginText {
		parts, p.test = parts[1:], strings.HasPrefix
	} else if n == 2 && parts[1].Op == syntax.OpEndText {
		parts, p.test = parts[:1], strings.HasSuffix
	}
	if len(parts) != 1 || parts[0].Op != syntax.OpLiteral || parts[0].Flags&syntax.FoldCase != 0 {
		return nil
	}
	p.literal = string(parts[0].Rune)
	return p
}

func anyMatch(patterns []*Pattern, s string) bool {
	for _, p := range patterns {
		if p.Match(s) {
			return true
		}
	}
	return false
}
