package luabind

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

func init() { modules["text"] = textModule }

// textModule is require "text": strings as UTF-8, where Lua's own library knows bytes. White space is what Python takes for it,
// no-break space and the spaces of Unicode included. Bytes that are not UTF-8 pass through.
func textModule(v *vm) lua.LValue {
	return v.L.SetFuncs(v.L.NewTable(), map[string]lua.LGFunction{
		"squeeze": textSqueeze, "strip": textStrip, "split": textSplit,
		"startswith": textPredicate(strings.HasPrefix), "endswith": textPredicate(strings.HasSuffix),
		"lower": textMap(strings.ToLower), "upper": textMap(strings.ToUpper),
		"len": textLen, "sub": textSub,
	})
}

// isSpace is Python's str.isspace: Unicode's white space and the four separators of ASCII.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// textSqueeze is text.squeeze(s): white space stripped from the ends and folded to one space within, as " ".join(s.split()).
func textSqueeze(L *lua.LState) int {
	s := L.CheckString(1)
	if lv, ok := L.Get(1).(lua.LString); ok && isSqueezed(s) {
		L.Push(lv)
	} else {
		L.Push(lua.LString(squeeze(s)))
	}
	return 1
}

// isSqueezed reports whether s is ASCII with nothing to fold; other text is folded to see.
func isSqueezed(s string) bool {
	space := true // a space here would be the first or follow another
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c >= utf8.RuneSelf || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return s == "" || !space
}

func squeeze(s string) string {
	b := make([]byte, 0, len(s))
	word := -1 // where the word begins, -1 between words
	for i, r := range s {
		switch space := isSpace(r); {
		case !space && word < 0:
			word = i
		case space && word >= 0:
			b = appendWord(b, s[word:i])
			word = -1
		}
	}
	if word >= 0 {
		b = appendWord(b, s[word:])
	}
	return string(b)
}

func appendWord(b []byte, word string) []byte {
	if len(b) > 0 {
		b = append(b, ' ')
	}
	return append(b, word...)
}

// textStrip is text.strip(s[, chars]): white space, or the characters of chars, taken off both ends.
func textStrip(L *lua.LState) int {
	s := L.CheckString(1)
	if L.Get(2) == lua.LNil {
		L.Push(lua.LString(strings.TrimFunc(s, isSpace)))
	} else {
		L.Push(lua.LString(strings.Trim(s, L.CheckString(2))))
	}
	return 1
}

// textSplit is text.split(s[, separator[, n]]): a list of the pieces, at most n splits. Without a separator it is the words
// between white space, none of them empty.
func textSplit(L *lua.LState) int {
	s := L.CheckString(1)
	n := L.OptInt(3, -1)
	if L.Get(2) == lua.LNil {
		if n >= 0 {
			L.ArgError(2, "a separator is needed to limit the splits")
		}
		L.Push(textList(L, strings.FieldsFunc(s, isSpace)))
		return 1
	}
	sep := L.CheckString(2)
	if sep == "" {
		L.ArgError(2, "the separator is empty")
	}
	if count := strings.Count(s, sep); n < 0 && count >= maxParts {
		L.ArgError(1, fmt.Sprintf("%d pieces are more than %d", count+1, maxParts))
	}
	if n >= 0 {
		n = min(n, maxParts) + 1
	}
	L.Push(textList(L, strings.SplitN(s, sep, n)))
	return 1
}

func textList(L *lua.LState, parts []string) *lua.LTable {
	if len(parts) > maxParts {
		L.ArgError(1, fmt.Sprintf("%d pieces are more than %d", len(parts), maxParts))
	}
	list := L.CreateTable(len(parts), 0)
	for _, p := range parts {
		list.Append(lua.LString(p))
	}
	return list
}

// textPredicate is text.startswith(s, part) and text.endswith(s, part).
func textPredicate(f func(s, part string) bool) lua.LGFunction {
	return func(L *lua.LState) int {
		L.Push(lua.LBool(f(L.CheckString(1), L.CheckString(2))))
		return 1
	}
}

// textMap is text.lower(s) and text.upper(s), by Unicode's tables.
func textMap(f func(string) string) lua.LGFunction {
	return func(L *lua.LState) int {
		L.Push(lua.LString(f(L.CheckString(1))))
		return 1
	}
}

// textLen is text.len(s): the number of characters.
func textLen(L *lua.LState) int {
	L.Push(lua.LNumber(utf8.RuneCountInString(L.CheckString(1))))
	return 1
}

// textSub is text.sub(s, i[, j]): string.sub by characters, so that none is cut in two.
func textSub(L *lua.LState) int {
	s := L.CheckString(1)
	n := utf8.RuneCountInString(s)
	from, to := charIndex(L.CheckInt(2), n), charIndex(L.OptInt(3, -1), n)
	from, to = max(from, 1), min(to, n)
	if from > to {
		L.Push(lua.LString(""))
		return 1
	}
	start, rest := 0, s
	for i := 1; i <= to; i++ {
		if i == from {
			start = len(s) - len(rest)
		}
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	L.Push(lua.LString(s[start : len(s)-len(rest)]))
	return 1
}

// charIndex counts a negative index from the end.
func charIndex(i, n int) int {
	if i < 0 {
		return n + 1 + i
	}
	return i
}
