package luabind

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Lua's patterns, as PUC Lua 5.1's lstrlib.c matches them. It backtracks, so its work may be exponential in the pattern: a step
// counter ends it, and every so often it asks whether the call is still to run.

const (
	maxCaptures      = 32
	maxPatternDepth  = 1000    // quantified items and captures inside each other: each takes a part of Go's stack
	maxPatternSteps  = 1 << 29 // of one call of a string function: a few seconds
	patternPollSteps = 1 << 14
	captureOpen      = -1
	capturePosition  = -2
	patternSpecials  = "^$*+?.([%-"
)

type capture struct{ start, size int }

// matcher matches one pattern against one text. What is wrong with the pattern, or with its cost, is raised in the script.
type matcher struct {
	L             *lua.LState
	v             *vm
	text, pattern string
	level         int // captures, finished or not
	depth         int
	steps         int
	polled        int // steps at the last look at the clock
	captures      [maxCaptures]capture
}

func (m *matcher) fail(why string) { m.L.RaiseError("%s", why) }

func (m *matcher) spend(n int) {
	m.steps += n
	if m.steps-m.polled < patternPollSteps {
		return
	}
	m.polled = m.steps
	m.v.interrupt.check(m.L)
	if m.steps > maxPatternSteps {
		m.fail("the pattern needs too many steps on this text; make it simpler")
	}
}

// try matches the pattern from p on at text position s and gives the end of the match, -1 for none.
func (m *matcher) try(s, p int) int {
	m.level = 0
	return m.match(s, p)
}

func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxPatternDepth {
		m.fail("the pattern is too complex: more than 1000 items that repeat or capture")
	}
	end := m.items(s, p)
	m.depth--
	return end
}

// items matches the items of the pattern one after the other; those that must be tried in several ways recurse.
func (m *matcher) items(s, p int) int {
	for p < len(m.pattern) {
		m.spend(1)
		switch m.pattern[p] {
		case '(':
			if p+1 < len(m.pattern) && m.pattern[p+1] == ')' {
				return m.open(s, p+2, capturePosition)
			}
			return m.open(s, p+1, captureOpen)
		case ')':
			return m.close(s, p+1)
		case '$':
			if p+1 == len(m.pattern) {
				if s == len(m.text) {
					return s
				}
				return -1
			}
		case '%':
			if next, nextP, done := m.escape(s, p); done {
				if next < 0 {
					return -1
				}
				s, p = next, nextP
				continue
			}
		}
		ep := m.classEnd(p)
		if ep < len(m.pattern) {
			switch m.pattern[ep] {
			case '?':
				if m.single(s, p, ep) {
					if end := m.match(s+1, ep+1); end >= 0 {
						return end
					}
				}
				p = ep + 1
				continue
			case '*':
				return m.longest(s, p, ep, 0)
			case '+':
				return m.longest(s, p, ep, 1)
			case '-':
				return m.shortest(s, p, ep)
			}
		}
		if !m.single(s, p, ep) {
			return -1
		}
		s, p = s+1, ep
	}
	return s
}

// escape matches %b, %f and %1 to %9; done is false for a class.
func (m *matcher) escape(s, p int) (next, nextP int, done bool) {
	if p+1 >= len(m.pattern) {
		return 0, 0, false
	}
	switch c := m.pattern[p+1]; {
	case c == 'b':
		return m.balance(s, p+2), p + 4, true
	case c == 'f':
		if p += 2; p >= len(m.pattern) || m.pattern[p] != '[' {
			m.fail("missing '[' after '%f' in pattern")
		}
		ep := m.classEnd(p)
		var before, after byte
		if s > 0 {
			before = m.text[s-1]
		}
		if s < len(m.text) {
			after = m.text[s]
		}
		if m.set(before, p, ep-1) || !m.set(after, p, ep-1) {
			return -1, 0, true
		}
		return s, ep, true
	case c >= '0' && c <= '9':
		return m.again(s, c), p + 2, true
	}
	return 0, 0, false
}

// longest matches as many characters as it can, and fewer while the rest of the pattern does not match.
func (m *matcher) longest(s, p, ep, least int) int {
	n := 0
	for m.single(s+n, p, ep) {
		if n++; n%patternPollSteps == 0 {
			m.spend(patternPollSteps)
		}
	}
	m.spend(n % patternPollSteps)
	for ; n >= least; n-- {
		if end := m.match(s+n, ep+1); end >= 0 {
			return end
		}
	}
	return -1
}

func (m *matcher) shortest(s, p, ep int) int {
	for {
		if end := m.match(s, ep+1); end >= 0 {
			return end
		}
		if !m.single(s, p, ep) {
			return -1
		}
		s++
	}
}

func (m *matcher) open(s, p, size int) int {
	if m.level >= maxCaptures {
		m.fail("too many captures")
	}
	m.captures[m.level] = capture{s, size}
	m.level++
	end := m.match(s, p)
	if end < 0 {
		m.level--
	}
	return end
}

func (m *matcher) close(s, p int) int {
	for l := m.level - 1; l >= 0; l-- {
		if m.captures[l].size != captureOpen {
			continue
		}
		m.captures[l].size = s - m.captures[l].start
		end := m.match(s, p)
		if end < 0 {
			m.captures[l].size = captureOpen
		}
		return end
	}
	m.fail("invalid pattern capture")
	return -1
}

// again matches what capture c, a digit, has matched.
func (m *matcher) again(s int, c byte) int {
	l := int(c) - '1'
	if l < 0 || l >= m.level || m.captures[l].size == captureOpen {
		m.fail("invalid capture index")
	}
	got := m.captures[l]
	if got.size == capturePosition {
		return -1
	}
	part := m.text[got.start : got.start+got.size]
	m.spend(len(part) / 16)
	if !strings.HasPrefix(m.text[s:], part) {
		return -1
	}
	return s + len(part)
}

// balance is %bxy: from an x to the y that ends it.
func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pattern) {
		m.fail("unbalanced pattern")
	}
	first, last := m.pattern[p], m.pattern[p+1]
	if s >= len(m.text) || m.text[s] != first {
		return -1
	}
	deep := 1
	for i := s + 1; i < len(m.text); i++ {
		switch m.text[i] {
		case last:
			if deep--; deep == 0 {
				m.spend(i - s)
				return i + 1
			}
		case first:
			deep++
		}
	}
	m.spend(len(m.text) - s)
	return -1
}
