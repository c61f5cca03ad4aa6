package luabind

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	lua "github.com/yuin/gopher-lua"
)

func init() { modules["re"] = reModule }

// maxParts bounds the matches or pieces that one call lists, and so its memory.
const maxParts = 1 << 18

// maxRegexpWork bounds length of text times instructions of a pattern: what a match may cost, since it cannot be interrupted.
const maxRegexpWork = 1 << 29

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
		"test": reTest, "match": reMatch, "find": reFind, "findall": reFindAll, "gmatch": reGmatch,
		"gsub": reGsub, "split": reSplit, "escape": reEscape,
	})
}

// checkPattern takes the text and the pattern that each function has as its first arguments.
func checkPattern(L *lua.LState) (string, *pattern) {
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
	if len(s) > maxRegexpWork/p.size {
		L.ArgError(1, fmt.Sprintf("%d bytes are too long a text for this pattern", len(s)))
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
func (p *pattern) all(L *lua.LState, s string, n int) [][]int {
	if n >= 0 && n <= maxParts {
		return p.FindAllStringSubmatchIndex(s, n)
	}
	found := p.FindAllStringSubmatchIndex(s, maxParts+1)
	if len(found) > maxParts {
		L.ArgError(1, fmt.Sprintf("the text has more than %d matches", maxParts))
	}
	return found
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
func reTest(L *lua.LState) int {
	s, p := checkPattern(L)
	L.Push(lua.LBool(p.MatchString(s)))
	return 1
}

// reMatch is re.match(text, pattern): the captures of the first match, all of it when there are no groups; nil for none.
func reMatch(L *lua.LState) int {
	s, p := checkPattern(L)
	m := p.FindStringSubmatchIndex(s)
	if m == nil {
		L.Push(lua.LNil)
		return 1
	}
	return pushCaptures(L, s, m)
}

// reFind is re.find(text, pattern): first and last byte of the first match, from 1, and its captures; nil for none.
func reFind(L *lua.LState) int {
	s, p := checkPattern(L)
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
func reFindAll(L *lua.LState) int {
	s, p := checkPattern(L)
	found := p.all(L, s, -1)
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
func reGmatch(L *lua.LState) int {
	s, p := checkPattern(L)
	found := p.all(L, s, -1)
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
func reGsub(L *lua.LState) int {
	s, p := checkPattern(L)
	replacement := L.Get(3)
	L.CheckTypes(3, lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction)
	found := p.all(L, s, L.OptInt(4, -1))
	var out []byte
	end := 0
	for _, m := range found {
		out = append(out, s[end:m[0]]...)
		out = appendReplacement(L, out, p, s, m, replacement)
		end = m[1]
		if len(out) > maxJSONSize {
			L.RaiseError("re.gsub: the result is larger than %d MB", maxJSONSize>>20)
		}
	}
	L.Push(lua.LString(append(out, s[end:]...)))
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
		return p.ExpandString(out, lua.LVAsString(r), s, m)
	}
	switch v.Type() {
	case lua.LTString, lua.LTNumber:
		return append(out, lua.LVAsString(v)...)
	case lua.LTNil:
		return append(out, s[m[0]:m[1]]...)
	}
	if v != lua.LFalse {
		L.RaiseError("re.gsub: the replacement is a %s, not a string", v.Type())
	}
	return append(out, s[m[0]:m[1]]...)
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
func reSplit(L *lua.LState) int {
	s, p := checkPattern(L)
	n := L.OptInt(3, -1)
	list := L.NewTable()
	end := 0
	for _, m := range p.all(L, s, n) {
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
