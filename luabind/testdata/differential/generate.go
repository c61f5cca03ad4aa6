package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes one program. Names are few, so that locals shadow each other, and any may be captured.
type generator struct {
	*rand.Rand
	out    strings.Builder
	scopes [][]string // visible locals, innermost last
	depth  int
	loops  int // loops around, within the function
	vararg bool
	next   int
}

func generate(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), scopes: [][]string{nil}, vararg: true}
	g.line("local a, b, c, t, f = 1, nil, 'k', { a = 2, b = false }, function(p) return p end")
	g.declare("a", "b", "c", "t", "f")
	for range 3 + g.IntN(5) {
		g.statement()
	}
	g.line("note(a, b, c, t, f, G, H)")
	return g.out.String()
}

func (g *generator) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat(" ", g.depth))
	fmt.Fprintf(&g.out, format+"\n", args...)
}

func (g *generator) declare(names ...string) {
	last := len(g.scopes) - 1
	g.scopes[last] = append(g.scopes[last], names...)
}

// inside writes statements in a block of their own.
func (g *generator) inside(names []string, more func()) {
	g.scopes = append(g.scopes, names)
	g.depth++
	for range 1 + g.IntN(3) {
		g.statement()
	}
	if more != nil {
		more()
	}
	g.depth--
	g.scopes = g.scopes[:len(g.scopes)-1]
}

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) local() string {
	var all []string
	for _, s := range g.scopes {
		all = append(all, s...)
	}
	return all[len(all)-1-min(g.IntN(len(all)), g.IntN(len(all)))]
}

func (g *generator) fresh() string { return pick(g, "a", "b", "c", "t", "f", "x", "y", "z") }

func (g *generator) statement() {
	if g.depth > 3 {
		g.assign()
		return
	}
	pick(g, g.assign, g.assign, g.assign, g.assign, g.locals, g.locals, g.branch, g.while, g.repeat, g.numeric, g.generic,
		g.function, g.closures, g.protected, g.leave, g.note, g.block, g.method)()
}

func (g *generator) note() { g.line("note(%s, %s)", g.expr(2), g.expr(1)) }

func (g *generator) block() {
	g.line("do")
	g.inside(nil, nil)
	g.line("end")
}

func (g *generator) target() string {
	return pick(g, g.local, g.local, g.local,
		func() string { return pick(g, "G", "H") },
		func() string { return fmt.Sprintf("tab(%s).%s", g.local(), pick(g, "a", "b")) },
		func() string { return fmt.Sprintf("T[%s]", pick(g, "1", "'k'", "num("+g.local()+")")) })()
}

func (g *generator) assign() {
	if g.IntN(3) > 0 {
		g.line("%s = %s", g.target(), g.expr(3))
		return
	}
	var left, right []string
	for range 1 + g.IntN(3) {
		left = append(left, g.target())
	}
	for range 1 + g.IntN(3) {
		right = append(right, pick(g, g.expr(2), g.local(), g.local()))
	}
	g.line("%s = %s", strings.Join(left, ", "), strings.Join(right, ", "))
}

func (g *generator) locals() {
	names := []string{g.fresh()}
	for g.IntN(3) == 0 {
		names = append(names, g.fresh())
	}
	if g.IntN(5) == 0 {
		g.line("local %s", strings.Join(names, ", "))
	} else {
		right := []string{g.expr(3)}
		for g.IntN(3) == 0 {
			right = append(right, g.expr(2))
		}
		g.line("local %s = %s", strings.Join(names, ", "), strings.Join(right, ", "))
	}
	g.declare(names...)
}

// condition is an expression that often starts with or holds a constant.
func (g *generator) condition() string {
	constant := pick(g, "nil", "false", "true", "1", "'s'", "not nil", "not true")
	return pick(g, g.expr(3), g.expr(2), constant,
		constant+" and "+g.expr(1), constant+" or "+g.expr(1), "("+constant+" and "+g.expr(1)+") or "+g.expr(1),
		"not ("+g.expr(1)+" and "+constant+")", g.expr(1)+" and "+constant+" or "+g.expr(1))
}

func (g *generator) branch() {
	g.line("if %s then", g.condition())
	g.inside(nil, nil)
	for g.IntN(3) == 0 {
		g.line("elseif %s then", g.condition())
		g.inside(nil, nil)
	}
	if g.IntN(2) == 0 {
		g.line("else")
		g.inside(nil, nil)
	}
	g.line("end")
}

func (g *generator) loop(open string, names []string, closing func() string, more func()) {
	g.line("%s", open)
	g.loops++
	g.inside(names, more)
	g.loops--
	g.line("%s", closing())
}

func end() string { return "end" }

func (g *generator) counter() string {
	g.next++
	name := fmt.Sprintf("n%d", g.next)
	g.line("local %s = 0", name)
	return name
}

func (g *generator) while() {
	n := g.counter()
	condition := pick(g, g.condition(), "true", "("+g.condition()+") or "+n+" < 2", n+" < 3 and "+g.condition())
	g.loop("while "+condition+" do", nil, end, func() {
		g.line("burn() %s = %s + 1", n, n)
		g.line("if %s > 3 then break end", n)
	})
}

func (g *generator) repeat() {
	n := g.counter()
	g.loop("repeat", nil, func() string {
		return "until " + pick(g, n+" > 2", n+" > 1 or "+g.condition(), "not ("+n+" < 3 and "+g.expr(1)+")")
	}, func() {
		g.line("burn() %s = %s + 1", n, n)
		g.line("if %s > 4 then break end", n)
	})
}

func (g *generator) numeric() {
	name := pick(g, "i", "a", "x")
	g.loop(fmt.Sprintf("for %s = %s, %s do", name, pick(g, "1", "num(nil)", "0"), pick(g, "3", "2", "4, 2")), []string{name}, end, nil)
}

func (g *generator) generic() {
	names := pick(g, []string{"i", "v"}, []string{"k", "x"}, []string{"a"})
	source := pick(g, "ipairs({ "+g.expr(1)+", 5, "+g.expr(1)+" })", "ipairs({ 3, 4 })", "pairs({ q = "+g.expr(1)+" })")
	g.loop("for "+strings.Join(names, ", ")+" in "+source+" do", names, end, nil)
}

// leave goes out of a loop, also from within blocks whose locals are captured, or out of the function.
func (g *generator) leave() {
	how := pick(g, "break", "break", "return "+g.expr(1))
	if g.loops == 0 || g.depth == 0 {
		how = "return " + g.expr(1)
	}
	switch g.IntN(4) {
	case 0:
		g.line("if %s then %s end", g.condition(), how)
	case 1:
		g.line("if %s then local w = %s L[#L + 1] = function() w = num(w) + 1 return w end %s end", g.expr(1), g.expr(1), how)
	default:
		g.line("if %s then do local w = %s f = function(p) w = p or w return w end %s end end", g.expr(2), g.local(), how)
		g.line("note(call(f))")
	}
}

// params are the parameters of a function, the last of which is assigned to often.
func (g *generator) body(params []string, vararg bool) {
	loops, was := g.loops, g.vararg
	g.loops, g.vararg = 0, vararg
	g.inside(params, func() {
		if len(params) > 0 {
			last := params[len(params)-1]
			g.line("%s = %s", last, pick(g, "(id("+last+"))", "(str("+last+"):gsub('s', 'u'))", last+" and "+g.expr(1), "(two("+g.expr(1)+"))"))
		}
		g.line("return %s, %s", g.expr(2), pick(g, "two("+g.expr(1)+")", g.expr(1), "(two("+g.expr(1)+"))"))
	})
	g.loops, g.vararg = loops, was
}

func (g *generator) function() {
	params := pick(g, []string{"p"}, []string{"p", "q"}, nil, []string{"q", "a"})
	list := strings.Join(params, ", ")
	vararg := g.IntN(3) == 0
	if vararg {
		list = strings.TrimPrefix(list+", ...", ", ")
	}
	name := g.fresh()
	if g.IntN(2) == 0 {
		g.line("local function %s(%s)", name, list)
		g.declare(name)
		g.body(append(params[:len(params):len(params)], name), vararg)
	} else {
		g.line("local %s = function(%s) burn()", name, list)
		g.body(params, vararg)
		g.declare(name)
	}
	g.line("end")
	g.line("note(call(%s, %s, %s))", name, g.expr(1), g.expr(1))
}

func (g *generator) method() {
	g.line("local o = { v = %s }", g.expr(1))
	g.line("function o:m(p)")
	g.scopes = append(g.scopes, []string{"self", "o"})
	g.body([]string{"p"}, false)
	g.scopes = g.scopes[:len(g.scopes)-1]
	g.line("end")
	g.declare("o")
	g.line("note(o:m(%s))", g.expr(1))
}

// closures captures the locals of a loop, leaves it and uses them afterwards.
func (g *generator) closures() {
	g.line("for i = 1, 3 do")
	g.line("  local w = %s", g.expr(1))
	g.line("  if i == 2 and %s then local u = i L[#L + 1] = function() u = u + 1 return u, w end break end", pick(g, "true", g.expr(1)))
	g.line("  L[#L + 1] = function(p) w = p and w or i return w end")
	g.line("end")
	g.line("local x = %s", g.expr(1))
	g.declare("x")
	g.line("for i = 1, #L do note(call(L[i]), call(L[i], i)) end")
}

// protected raises while locals of the caller are captured.
func (g *generator) protected() {
	name := g.local()
	g.line("local up = function(p) %s = p return %s end", name, name)
	g.line("note(pcall(function(p) %s error(%s, 0) end))", pick(g, "", "up(3)", "local q = p f = function() return q end"), pick(g, "'no'", g.local()))
	g.line("up(%s) note(%s)", g.expr(1), name)
	g.line("note(pcall(up, %s))", g.expr(1))
}

// expr is an expression that never fails, of any type.
func (g *generator) expr(deep int) string {
	if deep == 0 || g.IntN(5) == 0 {
		return pick(g, g.local(), g.local(), g.local(), "nil", "false", "true", "3", "'k'", "G")
	}
	e := func() string { return g.expr(deep - 1) }
	return pick(g,
		func() string { return e() + " and " + e() },
		func() string { return e() + " or " + e() },
		func() string { return "(" + e() + " and " + e() + ") or " + e() },
		func() string { return "(" + e() + " or " + e() + ") and " + e() },
		func() string { return "not " + "(" + e() + ")" },
		func() string { return "(" + e() + ") == (" + e() + ")" },
		func() string { return "num(" + e() + ") " + pick(g, "<", "<=", ">", ">=", "~=") + " num(" + e() + ")" },
		func() string { return "num(" + e() + ") " + pick(g, "+", "-", "*") + " num(" + e() + ")" },
		func() string { return "-num(" + e() + ") + 2" },
		func() string { return "str(" + e() + ") .. str(" + e() + ") .. " + pick(g, "'q'", "str("+e()+")") },
		func() string { return "#str(" + e() + ")" },
		func() string { return "{ " + e() + ", a = " + e() + ", " + e() + " }" },
		func() string { return "tab(" + e() + ")." + pick(g, "a", "b") },
		func() string { return "T[" + pick(g, "1", "'k'", "num("+e()+")") + "]" },
		func() string { return pick(g, "id", "two") + "(" + e() + ", " + e() + ")" },
		func() string { return "(two(" + e() + "))" },
		func() string { return "none()" },
		func() string { return "call(" + g.local() + ", " + e() + ")" },
		g.rest,
		func() string { return "(function(p) return " + g.local() + " and p end)(" + e() + ")" },
	)()
}

// rest is the function's ..., cut to one value or counted.
func (g *generator) rest() string {
	if !g.vararg {
		return "nil"
	}
	return pick(g, "(...)", "select('#', ...)", "id(...)", "...")
}
