package luabind

import (
	"context"
	"fmt"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

func TestRe(t *testing.T) {
	t.Parallel()
	runCases(t, []moduleCase{
		{`return re.test("page 12", [[\d+]]), re.test("page", [[\d+]])`, `true|false`},
		{`return re.match("page 12 of 30", [[\d+]])`, `12`},
		{`return re.match("page 12 of 30", [[(\d+) of (\d+)]])`, `12|30`},
		{`return re.match("a", "(a)|(b)")`, `a|nil`},
		{`return re.match("x", "(a)")`, `nil`},
		{`return re.find("xxabc", "a(b)(c)")`, `3|5|b|c`},
		{`return re.find("xxabc", "abc")`, `3|5`},
		{`return re.find("é=1", "=")`, `3|3`},
		{`return re.find("x", "a")`, `nil`},
		{`return re.find("x", "")`, `1|0`},
		{`return table.concat(re.findall("a1b22", [[\d+]]), ",")`, `1,22`},
		{`return table.concat(re.findall("a=1 b=2 c", [[(\w)=\d]]), ",")`, `a,b`},
		{`local l = re.findall("a=1 b=2", [[(\w)=(\d)]]); return #l, l[2][1], l[2][2]`, `2|b|2`},
		{`return table.concat(re.findall("ab", "a|(b)"), ",")`, `,b`},
		{`return #re.findall("x", "a")`, `0`},
		{`local s = ""; for k, v in re.gmatch("a=1 b=2", [[(\w)=(\d)]]) do s = s .. k .. v .. ";" end; return s`, `a1;b2;`},
		{`local n = 0; for a, b in re.gmatch("abab", "(a)|(b)") do n = n + 1 end; return n`, `4`},
		{`return re.gsub("a1b22", [[\d+]], "<$0>")`, `a<1>b<22>|2`},
		{`return re.gsub("ab", "(?P<x>a)(b)", "${2}${x}$$")`, `ba$|1`},
		{`return re.gsub("aaa", "a", "b", 2)`, `bba|2`},
		{`return re.gsub("aaa", "a", "b", 0)`, `aaa|0`},
		{`return re.gsub("a b c", [[\w]], {a = "x", b = 2, c = false})`, `x 2 c|3`},
		{`return re.gsub("a1 b2", [[(\w)(\d)]], function(k, v) if k == "a" then return v .. k end end)`, `1a b2|2`},
		{`return re.gsub("abc", "", "-")`, `-a-b-c-|4`},
		{`return re.gsub("a1", [[\d]], function(d) return re.gsub(d, "1", "2") end)`, `a2|1`},
		{`return table.concat(re.split("a, b;c", "[,;] *"), "|")`, `a|b|c`},
		{`return table.concat(re.split("a,b,c", ",", 1), "|")`, `a|b,c`},
		{`return table.concat(re.split("abc", ""), "|")`, `a|b|c`},
		{`return table.concat(re.split(",a,", ","), "|"), #re.split("", ",")`, `|a||1`},
		{`return re.escape("a.b*c"), re.escape("abc")`, `a\.b\*c|abc`},
		{`return re.test("Straße", [[(?i)^STRASSE$|^stra\pLe$]])`, `true`},
	}, "re")
}

func TestReMistakesRaise(t *testing.T) {
	t.Parallel()
	runCases(t, []moduleCase{
		{`return re.match(nil, "a")`, `raised: <string>:1: bad argument #1 to match (string expected, got nil)`},
		{`return re.match("a")`, `raised: <string>:1: bad argument #2 to match (string expected, got nil)`},
		{`return re.match("a", "(")`, "raised: <string>:1: bad argument #2 to match (error parsing regexp: missing closing ): `(`)"},
		{`return re.match("a", "(?=a)")`, `raised: <string>:1: bad argument #2 to match (error parsing regexp: invalid or unsupported Perl syntax...`},
		{`return re.match("a", ("a"):rep(70000))`, `raised: <string>:1: bad argument #2 to match (a pattern of 70000 bytes...`},
		{`return re.match("a", "(((a{100}){100}){10})")`, `raised: <string>:1: bad argument #2 to match (...`},
		{`return re.gsub("a", "a")`, `raised: <string>:1: bad argument #3 to gsub (string or number or table or function expected, got nil)`},
		{`return re.gsub("a", "a", function() return {} end)`, `raised: <string>:1: re.gsub: the replacement is a table, not a string`},
		{`return re.gsub("a", "a", function() error("mine", 0) end)`, `raised: mine`},
		{`return re.test(("a"):rep(1000000), "(a?){500}(a{500})?b")`, `raised: <string>:1: bad argument #1 to test (1000000 bytes are too long a text for this pattern in the 5s that the call has left)`},
		{`return re.gsub(("a"):rep(5000), "a", ("b"):rep(10000))`, `raised: <string>:1: re.gsub: the result is larger than 16 MB`},
	}, "re")
}

func TestRePatternsAreBounded(t *testing.T) {
	t.Parallel()
	v := moduleVM(t, "re")
	for i := range 3000 {
		if got := eval(t, v, fmt.Sprintf(`return re.test("a%d", "a%d")`, i, i)); got != "true" {
			t.Fatal(i, got)
		}
	}
	if n := patterns.Len(); n > 1024 {
		t.Errorf("%d patterns kept", n)
	}
}

func TestReGsubStopsWithTheScript(t *testing.T) {
	t.Parallel()
	v := moduleVM(t, "re")
	ctx, cancel := context.WithCancel(t.Context())
	v.L.SetContext(ctx)
	v.L.SetGlobal("stop", v.L.NewFunction(func(*lua.LState) int { cancel(); return 0 }))
	got := eval(t, v, `local n = 0; pcall(re.gsub, ("a"):rep(1000), "a", function() n = n + 1; if n == 1 then stop() end end); return n`)
	if !strings.Contains(got, "canceled") {
		t.Errorf("got %s", got)
	}
}
