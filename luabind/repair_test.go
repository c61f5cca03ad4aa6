package luabind

import (
	"errors"
	"strings"
	"testing"

	"luacrawl/engine"
)

// TestGoto has no counterpart in PUC Lua 5.1; the answers are those of Lua 5.2, from its manual.
func TestGoto(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ program, want string }{
		"continue keeps a counter shared": {`local n = 0 local function inc() n = n + 1 end
			for i = 1, 4 do if i % 2 == 0 then goto continue end inc() ::continue:: end return n`, "2"},
		"continue closes the loop's locals": {`local fs = {}
			for i = 1, 3 do local v = i fs[i] = function() v = v + 1 return v end if i == 2 then goto continue end v = v + 10 ::continue:: end
			return fs[1]() .. " " .. fs[2]() .. " " .. fs[3]()`, "12 3 14"},
		"out of inner blocks": {`local f do local a = 1 do local b = 2 f = function() return a + b end goto out end end ::out:: local c, d = 8, 9 return f()`, "3"},
		"backwards": {`local n, fs = 0, {} ::again:: do local v = n fs[#fs + 1] = function() return v end end n = n + 1 if n < 3 then goto again end
			return fs[1]() .. fs[2]() .. fs[3]()`, "012"},
		"backwards over a local":        {`local n, f = 0 ::again:: local v = n if n == 0 then f = function() return v end n = 1 goto again end return f() .. v`, "01"},
		"out of two loops":              {`for i = 1, 3 do for j = 1, 3 do local k = i * j f = function() return k end if k == 4 then goto done end end end ::done:: return f()`, "4"},
		"over a local that comes later": {`local f for i = 1, 2 do do local y = i f = function() return y end goto c end local x = 5 ::c:: end local a, b, c, d, e, g = 7, 8, 9, 10, 11, 12 return f()`, "2"},
		"in repeat":                     {`local n, m = 0, 0 repeat n = n + 1 if n == 2 then goto continue end m = m + n ::continue:: until n == 3 return m`, "4"},
		"in a method":                   {`local o = {} function o:f(a, ...) local n = 0 local g = function() n = n + a end for i = 1, 2 do if i == 1 then goto c end g() ::c:: end return n end return o:f(5, 6)`, "5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c2, err := compile("a.lua", []byte(c.program))
			if err != nil {
				t.Fatal(err)
			}
			if got := answer(t, c2.proto); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestCompileErrors pins what cannot be compiled, with its line.
func TestCompileErrors(t *testing.T) {
	t.Parallel()
	many := func(n int, before, middle, after string) string {
		return "\n" + strings.Repeat(before, n) + middle + strings.Repeat(after, n)
	}
	for name, c := range map[string]struct {
		source, want string
	}{
		"break":             {"\nbreak", "a.lua:2: break outside of a loop"},
		"break in function": {"while true do\nlocal f = function() break end end", "a.lua:2: break outside of a loop"},
		"goto":              {"\n\ngoto nowhere", "a.lua:3: goto nowhere: there is no such label around it"},
		"goto into a scope": {"\ngoto x\nlocal a\n::x:: a = 1", "a.lua:2: goto x jumps into the scope of a local; declare the local before the goto"},
		"goto before until": {"repeat\ngoto x\nlocal a\n::x:: until a", "a.lua:2: goto x jumps into the scope of a local"},
		"goto function":     {"::x::\nlocal f = function() goto x end", "a.lua:2: goto x: there is no such label"},
		"label twice":       {"::x::\n::x::", `a.lua:2: label "x" stands twice in this block`},
		"varargs":           {"local f = function() return ... end", "a.lua:1: cannot use '...' outside a vararg function"},
		"deep brackets":     {many(20_000, "x = {", "", "}"), "a.lua:2: "},
		"deep minus":        {many(20_000, "- ", "1", ""), "a.lua:2: "},
		"minus":             {"local x = " + many(20_000, "- ", "1", ""), "a.lua:2: more than 1000 expressions or blocks inside each other"},
		"deep functions":    {many(5_000, "return function() ", "", " end"), "a.lua:2: more than 1000"},
		"deep blocks":       {many(20_000, "do ", "", " end"), "a.lua:2: more than 1000"},
		"long concat":       {"local x = 1" + many(20_000, " .. 1", "", ""), "more than 1000"},
		"deep calls":        {"local x = " + many(20_000, "f(", "", ")"), "more than 1000"},
		"many locals":       {many(300, "local x ", "", ""), "a.lua:"},
		"big table":         {"local t = {" + many(26_000, "1,", "", "") + "}", "a.lua:1: a table with more than 25000 values"},
		"large file":        {strings.Repeat("-- a comment\n", maxSource/10), "keep data outside of Lua files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := compile("a.lua", []byte(c.source))
			var e *engine.ScriptError
			if !errors.As(err, &e) || e.Kind != "syntax" || !strings.Contains(e.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCompileSkipsMarksAtTheStart(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"\xef\xbb\xbfreturn 1", "#!/usr/bin/lua\nreturn 1", "\xef\xbb\xbf#!x\nreturn 1"} {
		c, err := compile("a.lua", []byte(source))
		if err != nil || answer(t, c.proto) != "1" {
			t.Errorf("%q: %v", source, err)
		}
	}
}

// FuzzCompile: no source may crash or hang the compiler.
func FuzzCompile(f *testing.F) {
	frame, cases := readCases(f)
	for _, c := range cases[:written] {
		f.Add(c.program(frame))
	}
	f.Add("goto x ::x::")
	f.Fuzz(func(t *testing.T, source string) {
		_, err := compile("a.lua", []byte(source))
		var e *engine.ScriptError
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%#v", err)
		}
	})
}
