package luabind

import (
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// TestTailCallsAreForgotten: an error after many of them has no line for each.
func TestTailCallsAreForgotten(t *testing.T) {
	t.Parallel()
	v := newVM(nil, nil)
	defer v.close()
	var counted int64
	v.L.SetGlobal("count", v.L.NewFunction(func(L *lua.LState) int {
		frame, ok := frameOf(L)
		if !ok {
			t.Error("no frame")
		}
		counted = frame.Elem().FieldByName("Parent").Elem().FieldByName("TailCall").Int()
		return 0
	}))
	for _, around := range []string{"f(N)", "pcall(f, N)", "coroutine.wrap(f)(N)", "coroutine.wrap(function() pcall(f, N) end)()"} {
		for calls, most := range map[string]int64{"10": 10, "1000000": forgetEvery} {
			counted = -1
			program := "local function f(n) if n == 0 then count() return 1 end return f(n - 1) end " + strings.ReplaceAll(around, "N", calls)
			c, err := compile("a.lua", []byte(program))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.call(t.Context(), v.L.NewFunctionFromProto(c.proto)); err != nil {
				t.Fatal(err)
			}
			if counted < most/100 || counted > most {
				t.Errorf("%s: %d tail calls are remembered of %s, want at most %d", around, counted, calls, most)
			}
		}
	}
}

// TestYieldBoundaries: a yield works where Lua 5.1 allows it, and raises elsewhere, with the coroutine as it was.
func TestYieldBoundaries(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`coroutine.yield(1) return 2`:                                   "true 1 true 2",
		`return coroutine.yield(1)`:                                     "true 1 true nil",
		`local y = coroutine.yield return y(1)`:                         "false a yield under another name",
		`local yield = coroutine.yield return yield(1)`:                 "true 1 true nil",
		`local function f() return coroutine.yield(1) end f() return 2`: "true 1 true 2",
		`local function f() coroutine.yield(1) return 2 end return f()`: "true 1 true 2",
		`local function f(n) if n > 0 then return f(n - 1) end coroutine.yield(1) return 2 end local x = f(5) return x`:         "true 1 true 2",
		`for x in coroutine.wrap(function() coroutine.yield(7) end) do coroutine.yield(x) end return 2`:                         "true 7 true 2",
		`for x in function() coroutine.yield(1) end do end`:                                                                     "false across",
		`for x in coroutine.yield do end`:                                                                                       "false across",
		`local t = setmetatable({}, { __add = function() coroutine.yield() end }) return t + 1`:                                 "false across",
		`local t = setmetatable({}, { __newindex = function() coroutine.yield() end }) t.x = 1`:                                 "false across",
		`local t = setmetatable({}, { __concat = function() coroutine.yield() end }) return t .. 1`:                             "false across",
		`local t = setmetatable({}, { __eq = function() coroutine.yield() end }) return t == setmetatable({}, getmetatable(t))`: "false across",
		`table.sort({ 2, 1 }, function() coroutine.yield() end)`:                                                                "false across",
		`string.gsub("a", "a", function() coroutine.yield() end)`:                                                               "false across",
		`table.foreach({ 1 }, coroutine.yield)`:                                                                                 "false across",
		`local ok, e = pcall(coroutine.yield) coroutine.yield(ok) return e:match("across")`:                                     "true false true across",
	} {
		program := `local c = coroutine.create(function() ` + body + ` end) local r = {}
			for i = 1, 2 do
				local ok, v = coroutine.resume(c) r[#r + 1] = tostring(ok)
				r[#r + 1] = ok and tostring(v) or v:match("across") or v:match("a yield under another name") or v
				if not ok then break end
			end
			return table.concat(r, " ")`
		c, err := compile("a.lua", []byte(program))
		if err != nil {
			t.Fatal(err)
		}
		if got := answer(t, c.proto); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}
