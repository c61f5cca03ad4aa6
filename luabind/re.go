package luabind

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	lua "github.com/yuin/gopher-lua"
)

func init() { modules["re"] = reModule }

// maxParts bounds the matches or pieces that one call lists, and so its memory.
const maxParts = 1 << 18

// regexpStep is about what a match may cost for each byte of the text and instruction of the pattern. It cannot be interrupted, so
// one that may outlast the call is not begun.
const regexpStep = 25 * time.Nanosecond

// pattern is a compiled regular expression with its size.
type pattern struct {
	*regexp.Regexp
	size int // instructions
}

// patterns are the compiled ones, of all VMs: a Regexp may be used by many goroutines.
var patterns, _ = lru.New[string, *pattern](1024)

// reModule is require "re": Go's regular expressions (RE2 syntax), with the arguments in the order of Lua's string functions,
// the text first.
func reModule(v *vm) lua.LValue {
	return v.L.SetFuncs(v.L.NewTable(), map[string]lua.LGFunction{
		"test": v.reTest, "match": v.reMatch, "find": v.reFind, "findall": v.reFindAll, "gmatch": v.reGmatch,
		"gsub": v.reGsub, "split": v.reSplit, "escape": reEscape,
	})
}

// checkPattern takes the text and the pattern that each function has as its first arguments.
func (v *vm) checkPattern(L *lua.LState) (string, *pattern) {
	s, source := L.CheckString(1), L.CheckString(2)
	p, ok := patterns.Get(source)
	if !ok {
		source = strings.Clone(source) // which may be a piece of a page
		var err error
		if p, err = compilePattern(source); err != nil {
			L.ArgError(2, err.Error())
		}
		patterns.Add(source, p)
	}
	if cost := p.cost(s); cost > time.Millisecond && cost > v.interrupt.left() {
		L.ArgError(1, fmt.Sprintf("%d bytes are too long a text for this pattern in the %v that the call has left", len(s), v.interrupt.left().Round(time.Millisecond)))
	}
	return s, p
}

func compilePattern(source string) (*pattern, error) {
	if len(source) > 1<<16 {
		return nil, fmt.Errorf("a pattern of %d bytes, more than 64 KB", len(source))
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(prog.Inst) > 1<<16 {
		return nil, fmt.Errorf("the pattern is too large: %d instructions", len(prog.Inst))
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, err
	}
	return &pattern{re, len(prog.Inst)}, nil
}

// all finds the matches of s, at most n when n is not negative, and raises when there are too many.
func (v *vm) all(L *lua.LState, p *pattern, s string, n int) [][]int {
	most := maxParts + 1
	if n >= 0 && n <= maxParts {
		most = n
	}
	some := 64
	if p.cost(s) > slowMatches {
		some = 1
	}
	for ; ; some *= 8 {
		started := time.Now()
		found := p.FindAllStringSubmatchIndex(s, min(some, most))
		if len(found) > maxParts {
			L.ArgError(1, fmt.Sprintf("the text has more than %d matches", maxParts))
		}
		if len(found) < some || some >= most {
			return found
		}
		if time.Since(started) > slowMatches {
			v.scan(L, s, p)
			some = most
		}
	}
}

// slowMatches is how long the first matches may take before scan has a look at the others.
const slowMatches = 5 * time.Millisecond

// cost is what a match may take at most.
func (p *pattern) cost(s string) time.Duration {
	return time.Duration(len(s)) * time.Duration(p.size) * regexpStep
}

// scan goes over all matches where it can be interrupted, between one and the next: each may look at all of the text again. It
// raises when the call has not the time to do so again.
func (v *vm) scan(L *lua.LState, s string, p *pattern) {
	started := time.Now()
	p.ReplaceAllStringFunc(s, func(string) string {
		v.interrupt.check(L)
		return ""
	})
	if time.Since(started) > v.interrupt.left() {
		L.RaiseError("the pattern needs too long for all of its matches")
	}
}

// group is the i-th group of a match in s, nil when it took no part.
func group(s string, m []int, i int) lua.LValue {
	if m[2*i] < 0 {
		return lua.LNil
	}
	return lua.LString(s[m[2*i]:m[2*i+1]])
}

// pushCaptures pushes the groups of a match, or all of it when the pattern has none, as Lua's own functions do.
func pushCaptures(L *lua.LState, s string, m []int) int {
	groups := len(m)/2 - 1
	if groups == 0 {
		L.Push(group(s, m, 0))
		return 1
	}
	for i := 1; i <= groups; i++ {
		L.Push(group(s, m, i))
	}
	return groups
}

// reTest is re.test(text, pattern): true when the pattern is somewhere in the text.
func (v *vm) reTest(L *lua.LState) int {
	s, p := v.checkPattern(L)
	L.Push(lua.LBool(p.MatchString(s)))
	return 1
}

// reMatch is re.match(text, pattern): the captures of the first match, all of it when there are no groups; nil for none.
func (v *vm) reMatch(L *lua.LState) int {
	s, p := v.checkPattern(L)
	m := p.FindStringSubmatchIndex(s)
	if m == nil {
		L.Push(lua.LNil)
		return 1
	}
	return pushCaptures(L, s, m)
}

// reFind is re.find(text, pattern): first and last byte of the first match, from 1, and its captures; nil for none.
func (v *vm) reFind(L *lua.LState) int {
	s, p := v.checkPattern(L)
	m := p.FindStringSubmatchIndex(s)
	if m == nil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(m[0] + 1))
	L.Push(lua.LNumber(m[1]))
	if len(m) == 2 {
		return 2
	}
	return 2 + pushCaptures(L, s, m)
}

// reFindAll is re.findall(text, pattern): a list of the matches, of their groups when there is one, of lists of groups when there
// are more, as Python has it. A group that took no part is "".
func (v *vm) reFindAll(L *lua.LState) int {
	s, p := v.checkPattern(L)
	found := v.all(L, p, s, -1)
	list := L.CreateTable(len(found), 0)
	for _, m := range found {
		list.Append(matchValue(L, s, m))
	}
	L.Push(list)
	return 1
}

func matchValue(L *lua.LState, s string, m []int) lua.LValue {
	text := func(i int) lua.LValue {
		if v := group(s, m, i); v != lua.LNil {
			return v
		}
		return lua.LString("")
	}
	switch groups := len(m)/2 - 1; groups {
	case 0, 1:
		return text(groups)
	default:
		row := L.CreateTable(groups, 0)
		for i := 1; i <= groups; i++ {
			row.Append(text(i))
		}
		return row
	}
}

// reGmatch is re.gmatch(text, pattern): an iterator over the captures of each match. Where the first group took no part it
// gives "" for it, since nil would end the loop.
func (v *vm) reGmatch(L *lua.LState) int {
	s, p := v.checkPattern(L)
	found := v.all(L, p, s, -1)
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if len(found) == 0 {
			L.Push(lua.LNil)
			return 1
		}
		m := found[0]
		found = found[1:]
		n := pushCaptures(L, s, m)
		if L.Get(-n) == lua.LNil {
			L.Replace(L.GetTop()-n+1, lua.LString(""))
		}
		return n
	}))
	return 1
}

// reGsub is re.gsub(text, pattern, replacement[, n]): the text with the first n matches, or all, replaced, and how many. The
// replacement is a string with $1, ${1}, ${name} and $$, a table by the first capture, or a function of the captures; where table
// or function give nil or false the match stays.
func (v *vm) reGsub(L *lua.LState) int {
	s, p := v.checkPattern(L)
	replacement := L.Get(3)
	L.CheckTypes(3, lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction)
	found := v.all(L, p, s, L.OptInt(4, -1))
	var out []byte
	end := 0
	for _, m := range found {
		out = appendText(out, s[end:m[0]])
		out = appendReplacement(L, out, p, s, m, replacement)
		end = m[1]
		v.interrupt.check(L)
		if len(out) > maxJSONSize {
			L.RaiseError("re.gsub: the result is larger than %d MB", maxJSONSize>>20)
		}
	}
	L.Push(newText(appendText(out, s[end:])))
	L.Push(lua.LNumber(len(found)))
	return 2
}

func appendReplacement(L *lua.LState, out []byte, p *pattern, s string, m []int, replacement lua.LValue) []byte {
	var v lua.LValue
	switch r := replacement.(type) {
	case *lua.LFunction:
		top := L.GetTop()
		L.Push(r)
		L.Call(pushCaptures(L, s, m), 1)
		v = L.Get(-1)
		L.SetTop(top)
	case *lua.LTable:
		v = L.GetTable(r, matchKey(s, m))
	default:
		text := lua.LVAsString(r)
		if strings.Count(text, "$")*(m[1]-m[0])+len(text) > maxJSONSize {
			L.RaiseError("re.gsub: the result is larger than %d MB", maxJSONSize>>20)
		}
		return p.ExpandString(out, text, s, m)
	}
	switch v.Type() {
	case lua.LTString, lua.LTNumber:
		return appendText(out, lua.LVAsString(v))
	case lua.LTNil:
		return appendText(out, s[m[0]:m[1]])
	}
	if v != lua.LFalse {
		L.RaiseError("re.gsub: the replacement is a %s, not a string", v.Type())
	}
	return appendText(out, s[m[0]:m[1]])
}

// matchKey is the first group of a match, or all of it without groups.
func matchKey(s string, m []int) lua.LValue {
	if len(m) > 2 {
		if v := group(s, m, 1); v != lua.LNil {
			return v
		}
		return lua.LString("")
	}
	return group(s, m, 0)
}

// reSplit is re.split(text, pattern[, n]): a list of the pieces between matches, at most n splits.
func (v *vm) reSplit(L *lua.LState) int {
	s, p := v.checkPattern(L)
	n := L.OptInt(3, -1)
	list := L.NewTable()
	end := 0
	for _, m := range v.all(L, p, s, n) {
		if m[1] == 0 || m[0] == m[1] && m[0] == len(s) {
			continue // an empty match at either end splits nothing off
		}
		list.Append(lua.LString(s[end:m[0]]))
		end = m[1]
	}
	list.Append(lua.LString(s[end:]))
	L.Push(list)
	return 1
}

// reEscape is re.escape(text): a pattern that matches just the text.
func reEscape(L *lua.LState) int {
	s := L.CheckString(1)
	if strings.IndexFunc(s, func(r rune) bool { return strings.ContainsRune(`\.+*?()|[]{}^$`, r) }) < 0 {
		L.Push(L.Get(1))
		return 1
	}
	L.Push(lua.LString(regexp.QuoteMeta(s)))
	return 1
}
