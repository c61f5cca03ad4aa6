package luabind

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"luacrawl/engine"
	"luacrawl/scheduler"
)

const (
	hostileTimeout = 400 * time.Millisecond
	hostileLate    = slowdown * 500 * time.Millisecond // that a call may end after its timeout
	hostileHeap    = 256 << 20                         // above the base
	callPace       = 500                               // calls a second of the spider next door
	secret         = "the-secret-of-the-file"

	leastQuiet = 0.9  // of its rate that the spider next door keeps,
	leastBusy  = 0.55 // on a machine that has other work,
	leastRace  = 0.3  // and under the race detector
)

// hostile are bodies of a callback, with a part of the error that ends them; "" is for those that may end as they like.
var hostile = []struct{ name, script, want string }{
	{"while", `while true do end`, "callback_timeout"},
	{"repeat", `repeat local x = 1 until false`, "callback_timeout"},
	{"for without end", `for i = 1, math.huge do end`, "callback_timeout"},
	{"goto", `::again:: goto again`, "callback_timeout"},
	{"pcall loop", `while true do pcall(error, "x") end`, "callback_timeout"},
	{"pcall that goes on", `pcall(function() while true do end end) while true do pcall(function() while true do end end) end`, "callback_timeout"},
	{"xpcall handler", `xpcall(error, function() while true do end end)`, "callback_timeout"},
	{"pcall recursion", `local function f() pcall(f) pcall(f) end f()`, ""},
	{"coroutine loop", `while true do coroutine.wrap(function() coroutine.yield(1) end)() end`, "callback_timeout"},
	{"coroutine inside", `coroutine.wrap(function() while true do end end)()`, "callback_timeout"},
	{"resume that goes on", `while true do coroutine.resume(coroutine.create(function() while true do end end)) end`, "callback_timeout"},
	{"coroutine recursion", `local function f() coroutine.wrap(f)() end f()`, "inside each other"},
	{"coroutines kept", `local t = {} while true do local c = coroutine.create(function() coroutine.yield() end) coroutine.resume(c) t[#t + 1] = c end`, ""},
	{"yield in an iterator", `coroutine.wrap(function() for x in coroutine.yield do end end)()`, "attempt to yield across"},
	{"yield in a metamethod", `local t = setmetatable({}, { __index = function() coroutine.yield() end }) coroutine.wrap(function() return t.x end)()`, "attempt to yield across"},
	{"yield in sort", `coroutine.wrap(function() table.sort({ 1, 2, 3 }, function() coroutine.yield() end) end)()`, "attempt to yield across"},
	{"yield in gsub", `coroutine.wrap(function() ("abc"):gsub(".", function() coroutine.yield() end) end)()`, "attempt to yield across"},
	{"pattern a?", `(("a"):rep(28)):find(("a?"):rep(28) .. ("a"):rep(28))`, ""},
	{"pattern a-", `(("a"):rep(5000)):find((".-"):rep(30) .. "b")`, ""},
	{"pattern quadratic", `(("a"):rep(1e6)):find(".-b")`, ""},
	{"pattern long", `(("a"):rep(1e6)):find(("a*"):rep(1e6))`, "too complex"},
	{"pattern captures", `("a"):find(("("):rep(1e6))`, "too many captures"},
	{"pattern balance", `(("("):rep(1e6)):gsub("%b()", "")`, ""},
	{"pattern back reference", `(("ab"):rep(3000)):find("(.*)(.*)%1%2c")`, ""},
	{"gmatch", `for i = 1, 1e9 do for w in (("a"):rep(1e6)):gmatch(".-b") do end end`, ""},
	{"gsub that grows", `local s = ("x"):rep(1000) for i = 1, 1e9 do s = s:gsub(".+", "%0%0%0%0") end`, ""},
	{"gsub replacement", `(("a"):rep(1e6)):gsub(".*", ("%0"):rep(1e6))`, ""},
	{"gsub callback", `("a"):gsub("a", function() while true do end end)`, "callback_timeout"},
	{"rep", `string.rep("x", 1e10)`, "callback_memory"},
	{"rep of rep", `local s = "x" while true do s = s:rep(100) end`, "callback_memory"},
	{"format width", `("%999999999d"):format(1)`, "too long"},
	{"format many", `local s = ("x"):rep(2e6); (("%s"):rep(50)):format(s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s)`, ""},
	{"concat doubling", `local s = "x" while true do s = s .. s end`, "setting"},
	{"concat chain", `local s = ("x"):rep(3e7) return s .. s .. s .. s .. s .. s`, "callback_memory"},
	{"concat metamethod", `local t t = setmetatable({}, { __concat = function(a, b) return t .. b end }) return t .. "x"`, "stack overflow"},
	{"strings kept", `local t = {} while true do t[#t + 1] = ("x"):rep(3e7 + #t) end`, ""},
	{"small strings kept", `local t, i = {}, 0 while true do i = i + 1 t[i] = "x" .. i end`, ""},
	{"table.concat", `local s, t = ("x"):rep(1e6), {} for i = 1, 1000 do t[i] = s end table.concat(t)`, "callback_memory"},
	{"table.concat range", `table.concat({}, "x", 1, 1e15)`, "invalid value"},
	{"unpack", `unpack({}, 1, 1e8)`, "more than 100000"},
	{"unpack of a range", `unpack({}, -1e15, 1e15)`, "more than 100000"},
	{"byte", `(("x"):rep(1e7)):byte(1, -1)`, "more than 100000"},
	{"huge index", `local t = {} t[60000000] = 1 t[2 ^ 50] = 1`, ""},
	{"huge arrays", `local all = {} while true do local t = {} t[1048575] = 1 all[#all + 1] = t end`, ""},
	{"huge table", `local t = {} for i = 1, 1e12 do t[i] = { i } end`, ""},
	{"huge map", `local t = {} for i = 1, 1e12 do t["k" .. i] = i end`, ""},
	{"nested tables", `local t = {} while true do t = { t } end`, ""},
	{"insert below", `table.insert({ 1 }, -1e15, 1)`, ""},
	{"list that is full", `local t = {} for i = 1, 1e9 do table.insert(t, i) end`, ""},
	{"list past its array", `local t = {} while true do t[#t + 1] = 1 end`, ""},
	{"deep recursion", `local function f() return 1 + f() end f()`, "stack overflow"},
	{"tail recursion", `local function f() return f() end f()`, "callback_timeout"},
	{"mutual tail recursion", `local g local function f() return g() end g = function() return f() end f()`, "callback_timeout"},
	{"metatable that is its own", `local t = {} setmetatable(t, t) t.__index = t return t.x`, "too many recursions"},
	{"metatable recursion", `local t t = setmetatable({}, { __index = function(_, k) return t[k] end }) return t.x`, "stack overflow"},
	{"__tostring recursion", `local t t = setmetatable({}, { __tostring = function() return tostring(t) end }) tostring(t)`, "stack overflow"},
	{"__call chain", `local t = setmetatable({}, { __call = function(t) while true do end end }) t()`, "callback_timeout"},
	{"string metatable", `setmetatable("", { __index = {} })`, "table expected"},
	{"string metatable's fields", `rawset(getmetatable(""), "__index", nil)`, "table expected"},
	{"metatable of numbers", `setmetatable(1, { __add = function() return 0 end })`, "table expected"},
	{"metatable of functions", `setmetatable(print, { __call = error })`, "table expected"},
	{"sort without order", `local t = {} for i = 1, 1000 do t[i] = i % 7 end table.sort(t, function() return true end)`, "invalid order function"},
	{"sort at random", `local t = {} for i = 1, 1e5 do t[i] = i end table.sort(t, function() return math.random() < 0.5 end)`, ""},
	{"sort that loops", `table.sort({ 1, 2, 3 }, function() while true do end end)`, "callback_timeout"},
	{"sort that changes its table", `local t = { 3, 1, 2 } table.sort(t, function(a, b) for i = 1, 100 do t[#t + 1] = 1 end return a < b end) table.sort(t)`, ""},
	{"dofile", `dofile("FILE")`, "attempt to call"},
	{"loadfile", `loadfile("FILE")`, "attempt to call"},
	{"io", `io.open("FILE")`, "attempt to index"},
	{"os", `os.execute("cat FILE")`, "attempt to call"},
	{"require of a path", `require("FILE")`, "require"},
	{"require upwards", `require("../../../../../../../FILE")`, "require"},
	{"package", `package.loaded.os.exit(1)`, "attempt to index"},
	{"bytecode", `loadstring("\27Lua")`, "attempt to call"},
	{"dump", `string.dump(function() end)`, "attempt to call"},
	{"environment", `setfenv(1, {})`, "attempt to call"},
	{"exit", `os.exit(3)`, "attempt to call"},
	{"date", `os.date(("%c"):rep(1e7))`, "os.date"},
	{"json deep", `assert(require("json").decode(("["):rep(1e6)))`, "nested deeper"},
	{"json many", `assert(require("json").decode("[" .. ("[],"):rep(5e6) .. "1]"))`, ""},
	{"json shared", `local t = { "x" } for i = 1, 60 do t = { t, t } end require("json").encode(t)`, "tables"},
	{"json cycle", `local t = {} t.t = t require("json").encode(t)`, "contains itself"},
	{"re slow", `require("re").match(("a"):rep(1e6), "(?:a?){900}b")`, "too long a text"},
	{"re quadratic", `require("re").findall(("x"):rep(1e5), "x.*y|x")`, ""},
	{"re nested", `require("re").match("a", ("("):rep(1e5))`, "bad argument"},
	{"re replacement", `require("re").gsub(("a"):rep(1e6), "a+", ("$0"):rep(1e6))`, ""},
	{"text split", `require("text").split(("a "):rep(1e7), " ")`, "pieces"},
	{"text lower", `while true do require("text").lower(("Ä"):rep(1e6)) end`, ""},
	{"url", `require("url").parse("http://x/" .. ("a/../"):rep(1e6))`, ""},
	{"url join", `require("url").join("http://x/", ("../"):rep(1e6))`, ""},
	{"time", `require("time").parse(("1"):rep(1e6), ("%Y"):rep(1e6))`, ""},
	{"hash", `while true do require("hash").sha256(("x"):rep(6e7)) end`, ""},
	{"selector nested", `response:css(("div:not("):rep(1e6))`, ""},
	{"selector long", `response:css(("a "):rep(1e6))`, ""},
	{"selectors many", `for i = 1, 1e9 do response:css("a" .. i):getall() end`, ""},
	{"print", `local s, t = ("x"):rep(1e6), {} for i = 1, 10000 do t[i] = s end while true do print(unpack(t)) end`, "callback_timeout"},
	{"items kept", `while true do emit { a = ("x"):rep(15e6) } end`, ""},
	{"requests kept", `while true do emit(request { url = "http://x.test/", body = ("x"):rep(1e6) }) end`, ""},
	{"random", `math.random(0)`, "interval is empty"},
}

// ordinary is the spider next door.
const ordinary = `
local spider = { name = "ordinary" }
function spider.parse(response)
  for card in response:css("article"):each() do
    emit { title = card:css("h2::text"):get(), url = response:urljoin(card:css("a::attr(href)"):get()), n = ("a-b"):gsub("-", "+") }
  end
end
return spider`

func ordinaryPage() *engine.Response {
	return pageOf(strings.Repeat(`<article><h2>News</h2><p>Words</p><a href="/a?b=1">more</a></article>`, 20))
}

func pageOf(body string) *engine.Response {
	r := page("")
	r.Status, r.Body = 200, []byte(body)
	r.Request = &scheduler.Request{URL: r.URL}
	return r
}

// neighbour calls an ordinary callback every few milliseconds, as a crawl of some hundred pages a second does.
type neighbour struct {
	calls atomic.Int64
	err   atomic.Pointer[error]
}

func (n *neighbour) run(ctx context.Context, s *Spider) {
	tick := time.NewTicker(time.Second / callPace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p := ordinaryPage()
		out, err := s.Parse(context.WithoutCancel(ctx), p)
		p.Release()
		if err == nil && len(out.Items) != 20 {
			err = errors.New("the wrong items")
		}
		if err != nil {
			n.err.Store(&err)
		}
		n.calls.Add(1)
	}
}

// rate is the calls of some time.
type rate struct {
	calls int64
	time  time.Duration
}

// window is the neighbour's rate while f runs.
func (n *neighbour) window(f func()) rate {
	before, started := n.calls.Load(), time.Now()
	f()
	return rate{n.calls.Load() - before, time.Since(started)}
}

func (r rate) perSecond() float64 { return float64(r.calls) / r.time.Seconds() }

// keepsPace reports whether nothing else has held the neighbour up: a machine with other work tells little about a script.
func (r rate) keepsPace() bool { return r.perSecond() >= 0.95*callPace }

// comparison is which part of its rate the neighbour keeps beside each script, of what it has alone just before and after.
type comparison []float64

// add leaves out scripts that end before they could cost anything.
func (c *comparison) add(before, beside, after rate) {
	if beside.time > 50*time.Millisecond {
		*c = append(*c, 2*beside.perSecond()/(before.perSecond()+after.perSecond()))
	}
}

// kept is the mean over the scripts.
func (c comparison) kept() float64 {
	sum := 0.0
	for _, part := range c {
		sum += part
	}
	return sum / float64(len(c))
}

// peak follows the heap until its context ends, and sends the most that it saw.
func peak(ctx context.Context, most chan<- uint64) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	seen := uint64(0)
	for {
		select {
		case <-ctx.Done():
			most <- seen
			return
		case <-tick.C:
			seen = max(seen, heapObjects())
		}
	}
}

// TestHostileScripts runs each script beside an ordinary spider. It is not parallel: the heap is the process's.
func TestHostileScripts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret.lua")
	if err := os.WriteFile(file, []byte(secret+" = ="), 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := Load(filesystem(map[string]string{"b.lua": ordinary}), "b.lua", "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	runtime.GC()
	base := heapObjects()

	ctx, cancel := context.WithCancel(t.Context())
	var beside neighbour
	stopped := make(chan struct{})
	go func() { beside.run(ctx, next); close(stopped) }()
	var quiet, all comparison
	before := beside.window(pause)
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			script := strings.ReplaceAll(h.script, "FILE", file)
			together := endure(t, script, h.want, timeoutOf(h.name), base, &beside)
			after := beside.window(pause)
			t.Logf("next door %.0f calls a second before, %.0f beside it, %.0f after", before.perSecond(), together.perSecond(), after.perSecond())
			all.add(before, together, after)
			if before.keepsPace() && after.keepsPace() {
				quiet.add(before, together, after)
			}
			before = after
		})
	}
	cancel()
	<-stopped
	if err := beside.err.Load(); err != nil {
		t.Errorf("the spider next door: %v", *err)
	}
	t.Logf("next door %.0f of 100 calls beside %d scripts, %.0f beside the %d with a quiet machine", 100*all.kept(), len(all), 100*quiet.kept(), len(quiet))
	least := leastBusy
	if slowdown > 1 { // the detector's own work is shared by all
		least = leastRace
	}
	if all.kept() < least {
		t.Errorf("the spider next door kept %.2f of its rate, want %.2f at least", all.kept(), least)
	}
	if slowdown == 1 && len(quiet) >= len(all)*9/10 && quiet.kept() < leastQuiet {
		t.Errorf("the spider next door kept %.2f of its rate on a quiet machine, want %.2f", quiet.kept(), leastQuiet)
	}
}

// pause is a window in which nothing hostile runs.
func pause() { <-time.After(100 * time.Millisecond) }

// timeoutOf is longer for scripts that keep what they make: they need time to fill the memory.
func timeoutOf(name string) time.Duration {
	if strings.HasSuffix(name, "kept") || strings.HasPrefix(name, "huge") {
		return 6 * hostileTimeout
	}
	return hostileTimeout
}

// endure runs one hostile script: it must end in time, with the heap bounded, and leave the spider working. It returns the rate
// of the spider next door.
func endure(t *testing.T, script, want string, timeout time.Duration, base uint64, beside *neighbour) rate {
	var logged bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&logged, nil))
	source := "local spider = { name = 'hostile' }\nfunction spider.parse(response)\n do " + script + " end\nend\n" +
		"function spider.after() emit { ok = ('x'):upper() .. 1 + 1, n = select('#', ('a b'):gsub(' ', '')) } end\nreturn spider"
	s, err := Load(filesystem(map[string]string{"a.lua": source}), "a.lua", "", Options{Logger: logger, MemoryLimit: int64(base) + 96<<20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var took time.Duration
	var heap int64
	together := beside.window(func() { took, heap, err = ordeal(t, s, timeout) })
	for range 2 { // a machine that has other work may be late; a call without a bound is late each time
		if took > timeout+hostileLate {
			took, heap, err = ordeal(t, s, timeout)
		}
	}
	heap -= int64(base)
	t.Logf("%v, %d MB: %v", took.Round(time.Millisecond), heap>>20, err)
	if took > timeout+hostileLate {
		t.Errorf("it took %v", took)
	}
	if heap > hostileHeap {
		t.Errorf("the heap grew by %d MB", heap>>20)
	}
	inTime := slowdown == 1 || err == nil || !strings.Contains(err.Error(), "callback_timeout")
	if want != "" && inTime && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
	if text := logged.String() + errorDetails(err); strings.Contains(text, secret) {
		t.Errorf("the content of a file shows: %s", text)
	}
	after := pageOf("")
	after.Request.Callback = "after"
	if out, err := s.Parse(t.Context(), after); err != nil || string(out.Items[0]) != `{"n":2,"ok":"X2"}` {
		t.Errorf("afterwards the spider gives %v, %v", out, err)
	}
	s.Close()
	runtime.GC()
	return together
}

// ordeal is one call: how long it took, the most that the heap held, and its error.
func ordeal(t *testing.T, s *Spider, timeout time.Duration) (time.Duration, int64, error) {
	watching, stop := context.WithCancel(t.Context())
	most := make(chan uint64, 1)
	go peak(watching, most)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	started := time.Now()
	_, err := s.Parse(ctx, ordinaryPage())
	took := time.Since(started)
	stop()
	return took, int64(<-most), err
}

func errorDetails(err error) string {
	var e *engine.ScriptError
	if errors.As(err, &e) {
		return e.Error() + e.Traceback
	}
	return ""
}
