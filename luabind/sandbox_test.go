package luabind_test

import (
	"fmt"
	"strings"
	"testing"

	"luacrawl/luabind/luabindtest"
)

// TestSandbox: what a script must not have is not there, and what it has cannot be turned against others.
func TestSandbox(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"io", "debug", "package", "dofile", "loadfile", "load", "loadstring", "module", "newproxy", "getfenv", "setfenv",
		"collectgarbage", "channel", "_printregs", "os.execute", "os.exit", "os.getenv", "os.remove", "os.rename", "os.tmpname", "os.setenv", "os.setlocale", "string.dump"} {
		if got := luabindtest.Run(t, "return "+name)[0]; got != nil {
			t.Errorf("scripts have %s: %v", name, got)
		}
	}
	for _, name := range []string{"assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "print", "rawequal", "rawget", "rawset", "require",
		"select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall", "string.gsub", "table.insert", "math.floor", "coroutine.wrap",
		"os.time", "os.date", "os.clock", "os.difftime", "request", "emit", "drop"} {
		if got := luabindtest.Run(t, "return type("+name+")")[0]; got != "function" {
			t.Errorf("%s is a %v", name, got)
		}
	}
}

func TestLibraries(t *testing.T) {
	t.Parallel()
	for chunk, want := range map[string]string{
		`return ("y"):rep(3), ("%d"):format(5), ("abc"):upper()`:                                            `[yyy 5 ABC]`,
		`return pcall(coroutine.yield)`:                                                                     `[false  attempt to yield from outside a coroutine]`,
		`return getmetatable("")`:                                                                           `[string]`,
		`return pcall(setmetatable, "", {})`:                                                                `[false`,
		`string.upper = nil return ("a"):upper()`:                                                           `[A]`,
		`return pcall(string.rep, "x", 1e10)`:                                                               `[false  string.rep would make 10000000000 bytes, more than the 67108864 of setting callback_memory]`,
		`local ok, e = pcall(unpack, {}, 1, 1e8) return ok`:                                                 `[false]`,
		`local t = {} t[60000000] = 1 return t[60000000]`:                                                   `[1]`,
		`return select("#", pcall(error))`:                                                                  `[2]`,
		`return pcall(error, "x", 0)`:                                                                       `[false x]`,
		`return pcall(error, { a = 1 })`:                                                                    `[false map[a:1]]`,
		`return pcall(5)`:                                                                                   `[false`,
		`return pcall(function(...) return ... end, 1, nil, 3)`:                                             `[true 1 <nil> 3]`,
		`return xpcall(function() error("x", 0) end, function(e) return e .. "y" end)`:                      `[false xy]`,
		`return xpcall(function() return 1, 2 end, print)`:                                                  `[true 1 2]`,
		`return xpcall(error, function() error("z", 0) end)`:                                                `[false error in error handling]`,
		`return coroutine.running(), pcall(coroutine.running)`:                                              `[<nil> true <nil>]`,
		`local w = coroutine.wrap(function(a) local b = coroutine.yield(a) return b end) return w(1), w(2)`: `[1 2]`,
		`local c = coroutine.create(function() error("x", 0) end) return coroutine.resume(c)`:               `[false x]`,
		`local w = coroutine.wrap(function() error("x", 0) end) return pcall(w)`:                            `[false x]`,
		`local w = coroutine.wrap(function() end) w() return pcall(w)`:                                      `[false can not resume a dead thread]`,
		`local w = coroutine.wrap(function() return pcall(coroutine.yield, 1) end) return w()`:              `[false  attempt to yield across metamethod/C-call boundary: out of a pcall`,
		`local n = 0 local function inc() n = n + 1 end pcall(function() inc() error() end) inc() return n`: `[2]`,
		`local f = pcall local ok, ok2, e = f(f, error, "x") return ok, ok2, e`:                             `[true false x]`,
		"local function f() error('x', 2) end\nlocal ok, e = pcall(function()\nf()\nend) return e":          `[spiders/spider.lua:3: x]`,
		`return pcall(error, 5), pcall(error, "x", 9)`:                                                      `[false false x]`,
		`local n = 0 for i = "1", (" 3 ") do n = n + i end return n`:                                        `[6]`,
		`return pcall(function() for i = 1, "x" do end end)`:                                                `[false spiders/spider.lua:1: for statement limit must be a number]`,
		`return type(os.time()), os.date("%Y", 0) ~= nil`:                                                   `[number true]`,
		`return #require("json").encode({ 1, 2 })`:                                                          `[5]`,
		`return require("json") == require("json")`:                                                         `[true]`,
	} {
		t.Run(chunk, func(t *testing.T) {
			t.Parallel()
			if got := fmt.Sprint(luabindtest.Run(t, chunk)); !strings.HasPrefix(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestRequestValue(t *testing.T) {
	t.Parallel()
	const r = `local r = request { url = "HTTP://X.test:80/a b", method = "post", body = "x", headers = { ["user-agent"] = "u", ["X-List"] = { "a", 1 } },
 cookies = { c = "1" }, meta = { a = { 1 } }, priority = 3, callback = "parse", not_before = 1700000000.5 } `
	for chunk, want := range map[string]string{
		`return r.url, r.method, r.body, r.priority, r.callback, r.errback, r.dont_filter, r.depth, r.not_before`: `[http://x.test/a%20b POST x 3 parse <nil> false 0 1.7000000005e+09]`,
		`return r.headers["User-Agent"], r.headers["X-List"], r.cookies.c, r.meta.a[1], tostring(r)`:              `[u a, 1 1 1 <POST http://x.test/a%20b>]`,
		`local s = r:replace { priority = 4, method = "GET" } return s.priority, s.method, s.url, r.priority`:     `[4 GET http://x.test/a%20b 3]`,
		`return #r.fingerprint, getmetatable(r)`:                                                                  `[40 request]`,
		`local c = r:replace { cookies = { { name = "n", value = 7, domain = "x.test", path = "/p", secure = false }, { name = "o", value = "" } } }.cookies return #c, c[1].name, c[1].value, c[1].domain, c[1].path, c[1].secure, c[2].value, c[2].path, c[2].secure`: `[2 n 7 x.test /p false  <nil> <nil>]`,
		`return r:replace { cookies = { { name = "n", value = 7 } } }.cookies.n, next(r:replace { cookies = {} }.cookies), r:replace { cookies = r.cookies }.cookies.c`:                                                                                                 `[7 <nil> 1]`,
		`local s = r:replace { slot = "API.test:80" } return r.slot, s.slot, s:replace { slot = false }.slot`:                                                                                                                                                           `[<nil> api.test <nil>]`,
		`r.meta.b = 2 return r.meta.b`: `[2]`,
	} {
		if got := fmt.Sprint(luabindtest.Run(t, r+chunk)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", chunk, got, want)
		}
	}
}
