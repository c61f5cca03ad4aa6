package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// stringPrograms is how many programs use the string and table libraries.
const stringPrograms = 400

// attempt notes the results of a call, or that it raised: messages differ.
const attempt = `local function report(ok, ...) if ok then note(...) else note("raised") end end
local function try(f, ...) return report(pcall(f, ...)) end`

// generateStrings makes one program of calls of the string and table libraries, most of them with patterns.
func generateStrings(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 3))}
	g.line(attempt)
	for range 14 {
		pick(g, g.searching, g.searching, g.searching, g.replacing, g.replacing, g.formatting, g.cutting, g.listing, g.numbers)()
	}
	return g.out.String()
}

func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

// subject is a text for patterns to match.
func (g *generator) subject() string {
	var b strings.Builder
	for range g.IntN(16) {
		b.WriteString(pick(g, "a", "b", "c", "a", "b", "x", "y", "A", "0", "7", " ", ".", "-", "_", "(", ")", "[", "]", "%", "^", "$", "ab"))
	}
	return b.String()
}

func (g *generator) pattern() string {
	var b strings.Builder
	open := 0
	if g.IntN(6) == 0 {
		b.WriteString("^")
	}
	for range 1 + g.IntN(5) {
		switch g.IntN(12) {
		case 0:
			b.WriteString("(")
			open++
			continue
		case 1:
			if open > 0 || g.IntN(20) == 0 {
				b.WriteString(")")
				open--
				continue
			}
		case 2:
			b.WriteString(pick(g, "()", "%b()", "%bab", "%f[%w]", "%f[%a]", "%f[^b]", "%1", "%2"))
			continue
		}
		b.WriteString(pick(g, "a", "b", "c", "x", ".", ".", "%a", "%d", "%s", "%w", "%p", "%l", "%u", "%x", "%A", "%W", "%S", "%D", "%c", "%z", "%.", "%%", "%(",
			"[abc]", "[^ab]", "[a-c]", "[%a_]", "[]a]", "[^]]", "[%w.-]", "[a-]", "[%]]", "[^%s]", "-", "]", "^", "$", "%", "["))
		b.WriteString(pick(g, "", "", "", "*", "+", "-", "?"))
	}
	for ; open > 0 && g.IntN(12) > 0; open-- {
		b.WriteString(")")
	}
	if g.IntN(8) == 0 {
		b.WriteString("$")
	}
	return b.String()
}

func (g *generator) searching() {
	s, p := quoted(g.subject()), quoted(g.pattern())
	init := pick(g, "", "", ", 1", ", 3", ", -2", ", -100", ", 100", ", 0")
	switch g.IntN(5) {
	case 0, 1:
		g.line("try(string.find, %s, %s%s)", s, p, init)
	case 2:
		g.line("try(string.match, %s, %s%s)", s, p, init)
	case 3:
		g.line("try(string.find, %s, %s, 1, %s)", s, p, pick(g, "true", "false", "1", "nil"))
	default:
		g.line("try(function() local n = 0 for x, y in string.gmatch(%s, %s) do n = n + 1 note(x, y) if n > 20 then break end end end)", s, p)
	}
}

func (g *generator) replacing() {
	by := pick(g, "'<%0>'", "'%1'", "'%2%1'", "'%%'", "'-'", "'%x'", "''", "5", "{ a = 'A', b = false, ab = 1 }", "function(x) return x end", "function(x, y) return y end",
		"function() end", "function() return false end", "function() return {} end", "setmetatable({}, { __index = function(_, k) return '<' .. tostring(k) .. '>' end })")
	g.line("try(string.gsub, %s, %s, %s%s)", quoted(g.subject()), quoted(g.pattern()), by, pick(g, "", "", "", ", 1", ", 2", ", 0", ", -1"))
}

func (g *generator) formatting() {
	flags, width, precision := pick(g, "", "", "-", "+", " ", "0", "#", "-+"), pick(g, "", "", "5", "12", "1"), pick(g, "", "", ".0", ".3", ".10")
	number := pick(g, "0", "1", "-1", "3.7", "-2.5", "1234567", "0.1", "1e15", "1e100", "123456.789", "'12'", "1/3", "255", "2^31", "1e-5")
	switch conversion := pick(g, "d", "i", "u", "x", "X", "o", "c", "e", "f", "g", "G", "E", "s", "s", "q", "%", "y"); conversion {
	case "s":
		g.line("try(string.format, '[%%%s%s%ss]', %s)", pick(g, "", "-"), width, precision, quoted(g.subject()))
	case "q":
		g.line("try(string.format, '%%q', %s)", quoted(g.subject()+`"\`))
	case "c":
		g.line("try(string.format, '[%%%s%sc]', %d)", pick(g, "", "-"), width, 33+g.IntN(90))
	case "u", "x", "X", "o":
		precision = strings.Replace(precision, ".0", "", 1)
		g.line("try(string.format, '[%%%s%s%s]', %s)", pick(g, "", "-", "0", "#"), width+precision, conversion, pick(g, "0", "1", "255", "4096", "2^31", "65.9"))
	case "%", "y":
		g.line("try(string.format, 'a%%%s|%%d', 1)", conversion)
	default:
		if precision == ".0" && strings.Contains("di", conversion) {
			precision = "" // where C writes nothing at all for 0
		}
		g.line("try(string.format, '[%%%s%s%s%s]', %s)", flags, width, precision, conversion, number)
	}
}

func (g *generator) cutting() {
	s, i := quoted(g.subject()), func() int { return g.IntN(24) - 12 }
	g.line(pick(g, "try(string.sub, %[1]s, %[2]d, %[3]d)", "try(string.sub, %[1]s, %[2]d)", "try(string.byte, %[1]s, %[2]d, %[3]d)", "try(string.byte, %[1]s, %[2]d)",
		"try(string.rep, %[1]s, %[2]d)", "try(string.reverse, %[1]s)", "try(string.upper, %[1]s)", "try(string.lower, %[1]s)", "try(string.len, %[1]s)",
		"note(%[1]s < %[4]s, %[1]s == %[4]s)", "note(%[1]s .. %[2]d .. %[4]s .. %[3]d / 4)", "try(string.char, 65 + %[2]d, 70, 300 * %[3]d)", "note(#%[1]s)"), s, i(), i(), quoted(g.subject()))
}

func (g *generator) list() string {
	kind := g.IntN(3)
	var values []string
	for range g.IntN(8) {
		switch {
		case kind == 0:
			values = append(values, fmt.Sprint(g.IntN(10)))
		case kind == 1 || g.IntN(6) > 0:
			values = append(values, quoted(g.subject()))
		default:
			values = append(values, fmt.Sprint(g.IntN(10)))
		}
	}
	return "{ " + strings.Join(values, ", ") + " }"
}

func (g *generator) listing() {
	l, i := g.list(), func() int { return g.IntN(12) - 3 }
	g.line(pick(g, "try(table.concat, %[1]s)", "try(table.concat, %[1]s, ', ')", "try(table.concat, %[1]s, '-', %[2]d, %[3]d)", "try(table.concat, %[1]s, '', %[2]d)",
		"try(function() local t = %[1]s table.sort(t) note(t) end)", "try(function() local t = %[1]s table.sort(t, function(a, b) return tostring(a) > tostring(b) end) note(t) end)",
		"try(function() local t = %[1]s table.insert(t, 'z') note(t) end)", "try(function() local t = %[1]s table.insert(t, math.max(1, math.min(%[2]d, #t + 1)), 'z') note(t, #t) end)",
		"try(function() local t = %[1]s note(table.remove(t), t) end)", "try(function() local t = %[1]s note(table.remove(t, %[2]d)) note(t, #t) end)",
		"try(unpack, %[1]s)", "try(unpack, %[1]s, %[2]d, %[3]d)", "try(table.maxn, %[1]s)", "try(table.foreachi, %[1]s, function(i, v) if i > 2 then return v end end)"), l, i(), i())
}

func (g *generator) numbers() {
	text := quoted(pick(g, "10", "0x10", " 5 ", "1e3", "-7", "+7", "--7", "", "1.5", ".5", "5.", "0x", "ff", "zz", "1_0", "12a", "- 1", "0xFF", "1e", "1e+2", "Infinity1"))
	g.line(pick(g, "note(tostring(tonumber(%[1]s)))", "try(tonumber, (%[1]s):gsub('-', ''), %[2]d)", "note(tostring(%[3]s))", "note(%[3]s .. '')"), text, 2+g.IntN(35),
		pick(g, "0.1 + 0.2", "1/3", "1e12", "-1e12", "100", "2^40", "1e300", "-2.5e-7", "123456789012.5", "3.0"))
}
