package luabind

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	t.Parallel()
	runCases(t, []moduleCase{
		{`return text.squeeze("  a \n\t b  ")`, `a b`},
		{`return text.squeeze("a b")`, `a b`},
		{`return text.squeeze(""), text.squeeze(" "), text.squeeze("\n")`, `||`},
		{`return text.squeeze("\194\160a\194\160\226\128\137b\227\128\128\226\128\168c\28\29d\194\133")`, `a b c d`},
		{`return text.squeeze("a\226\128\139b")`, "a\u200bb"},
		{`return text.squeeze(" caf\233 \133 x ")`, "caf\xe9 \x85 x"},
		{`return text.squeeze("a  "), text.squeeze(" a"), text.squeeze("a  b")`, `a|a|a b`},
		{`return text.squeeze(12)`, `12`},
		{`return text.strip(" \194\160a b\227\128\128 "), text.strip("--a-b--", "-"), text.strip("「a」", "「」")`, `a b|a-b|a`},
		{`return table.concat(text.split("a,b,,c", ","), "|")`, `a|b||c`},
		{`return table.concat(text.split("a,b,c", ",", 1), "|")`, `a|b,c`},
		{`return table.concat(text.split("a,b", ",", 0), "|")`, `a,b`},
		{`return table.concat(text.split(" a \194\160 b\n"), "|"), #text.split(" ")`, `a|b|0`},
		{`return #text.split("", ",")`, `1`},
		{`return text.startswith("abc", "ab"), text.startswith("abc", "b"), text.endswith("abc", "bc"), text.endswith("abc", "")`, `true|false|true|true`},
		{`return text.lower("ÀÉß"), text.upper("àéя")`, `àéß|ÀÉЯ`},
		{`return text.len("aé😀"), text.len(""), text.len("a\255")`, `3|0|2`},
		{`return text.sub("aé😀b", 2, 3), text.sub("aé😀b", -2), text.sub("aé", 2), text.sub("aé", 0, 1), text.sub("aé", 3), text.sub("aé", 2, 1), text.sub("", 1)`, `é😀|😀b|é|a|||`},
		{`return text.squeeze(nil)`, `raised: <string>:1: bad argument #1 to squeeze (string expected, got nil)`},
		{`return text.split("a", "")`, `raised: <string>:1: bad argument #2 to split (the separator is empty)`},
		{`return text.split("a", nil, 1)`, `raised: <string>:1: bad argument #2 to split (a separator is needed to limit the splits)`},
		{`return text.split((","):rep(300000), ",")`, `raised: <string>:1: bad argument #1 to split (300001 pieces are more than 262144)`},
		{`return text.split((", "):rep(300000))`, `raised: <string>:1: bad argument #1 to split (300000 pieces are more than 262144)`},
	}, "text")
}

// squeeze is strings.Join(strings.FieldsFunc(s, isSpace), " ").
func FuzzSqueeze(f *testing.F) {
	for _, s := range []string{"", " a  b ", "\u00a0é\u3000x", "a\xa0b", "\x1ca", "a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := strings.Join(strings.FieldsFunc(s, isSpace), " ")
		if got := squeeze(s); got != want {
			t.Errorf("squeeze(%q) = %q, want %q", s, got, want)
		}
		if isSqueezed(s) && s != want {
			t.Errorf("isSqueezed(%q)", s)
		}
	})
}
