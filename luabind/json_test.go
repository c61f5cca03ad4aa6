package luabind

import (
	"context"
	"strings"
	"sync"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// moduleVM is a VM with the modules under test as globals.
func moduleVM(t testing.TB, names ...string) *vm {
	t.Helper()
	v := &vm{L: lua.NewState()}
	t.Cleanup(v.L.Close)
	for _, n := range names {
		v.L.SetGlobal(n, modules[n](v))
	}
	return v
}

// eval runs a Lua chunk and gives what it returns, as tostring has it, joined by "|".
func eval(t testing.TB, v *vm, chunk string) string {
	t.Helper()
	top := v.L.GetTop()
	if err := v.L.DoString(chunk); err != nil {
		return "raised: " + err.(*lua.ApiError).Object.String()
	}
	var out []string
	for i := top + 1; i <= v.L.GetTop(); i++ {
		out = append(out, v.L.ToStringMeta(v.L.Get(i)).String())
	}
	v.L.SetTop(top)
	return strings.Join(out, "|")
}

// moduleCase is one chunk and what it must return.
type moduleCase struct{ chunk, want string }

func runCases(t *testing.T, cases []moduleCase, names ...string) {
	t.Helper()
	v := moduleVM(t, names...)
	for _, c := range cases {
		got := eval(t, v, c.chunk)
		if prefix, ok := strings.CutSuffix(c.want, "..."); ok && strings.HasPrefix(got, prefix) {
			continue
		}
		if got != c.want {
			t.Errorf("%s\n got  %s\n want %s", c.chunk, got, c.want)
		}
	}
}

func TestJSONEncode(t *testing.T) {
	t.Parallel()
	runCases(t, []moduleCase{
		{`return json.encode({})`, `{}`},
		{`return json.encode(json.array())`, `[]`},
		{`return json.encode(json.array({1}))`, `[1]`},
		{`return json.encode(json.decode("[]")), json.encode(json.decode("{}"))`, `[]|{}`},
		{`local t = json.decode("[1]"); table.remove(t); return json.encode(t)`, `[]`},
		{`return json.encode(json.null), json.encode(nil), json.encode({a = json.null})`, `null|null|{"a":null}`},
		{`return json.encode({true, false, "x"})`, `[true,false,"x"]`},
		{`return json.encode({b = 1, a = 2, ["B"] = 3, ["a.b"] = 4, ["é"] = 5})`, `{"B":3,"a":2,"a.b":4,"b":1,"é":5}`},
		{`return json.encode({a = {c = {1, {d = "e"}}, b = {}}, z = {y = 1, x = 2}})`, `{"a":{"b":{},"c":[1,{"d":"e"}]},"z":{"x":2,"y":1}}`},
		{`return json.encode("<a href='?x&y'>\226\128\168\226\128\169é/\127")`, "\"<a href='?x&y'>\u2028\u2029é/\x7f\""},
		{`return json.encode('q" b\\ \n\r\t\b\f\0\31')`, `"q\" b\\ \n\r\t\b\f\u0000\u001f"`},
		{`return json.encode({1e15, 2^53, 2^63, 1e20, -3, -0})`, `[1000000000000000,9007199254740992,9223372036854775808,100000000000000000000,-3,0]`},
		{`return json.encode({1e21, 1.5, 0.1, 1e-7, 1e-6, -2.25e300, 3.14})`, `[1e+21,1.5,0.1,1e-07,0.000001,-2.25e+300,3.14]`},
	}, "json")
}

func TestJSONEncodeErrorsNameThePath(t *testing.T) {
	t.Parallel()
	cases := []struct{ value, want string }{
		{`{price = 0/0}`, `item.price is NaN`},
		{`{list = {1, 2, print}}`, `item.list[3] is a function`},
		{`{a = {["x y"] = 1/0}}`, `item.a["x y"] is infinite`},
		{`{a = {1, nil, 3}}`, `item.a[2] is nil, a hole`},
		{`{a = {1, x = 2}}`, `item.a has list entries and the key "x"`},
		{`{a = {[0] = 1}}`, `item.a has the number key 0 outside`},
		{`{a = {1, [1.5] = 1}}`, `item.a has the number key 1.5 outside`},
		{`{a = {[true] = 1}}`, `item.a has a boolean as a key`},
		{`{t = "caf\233"}`, `item.t is not UTF-8 at byte 3`},
		{`{t = "\237\160\128"}`, `item.t is not UTF-8 at byte 0`},
		{`{["caf\233"] = 1}`, `item["caf\xe9"] (a key) is not UTF-8`},
		{`coroutine.create(print)`, `item is a thread`},
		{`(function() local t = {}; t.a = {t}; return t end)()`, `item.a[1] contains itself`},
		{`(function() local t = {}; t.t = t; return t end)()`, `item.t contains itself`},
		{`(function() local t = {}; for i = 1, 300 do t = {t} end; return t end)()`, `is nested deeper than 200`},
		{`(function() local t = {}; for i = 1, 100 do t = {("x"):rep(1000), t, t} end; return t end)()`, `is larger than 16 MB`},
		{`{a = ("x"):rep(17 * 1024 * 1024)}`, `item.a is larger than 16 MB`},
		{`("x"):rep(17 * 1024 * 1024)`, `item is larger than 16 MB`},
		{`setmetatable({}, {__index = function() error("ran") end}).x`, `ran`},
	}
	for _, c := range cases {
		v := moduleVM(t, "json")
		if err := v.L.DoString("return " + c.value); err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.value, err)
			}
			continue
		}
		b, err := appendJSON(nil, "item", v.L.Get(-1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.60q, %v; want an error with %q", c.value, b, err, c.want)
		}
	}
}

func TestJSONEncodeTwiceTheSameTableIsNoCycle(t *testing.T) {
	t.Parallel()
	runCases(t, []moduleCase{
		{`local a = {1}; return json.encode({a, a, {a}})`, `[[1],[1],[[1]]]`},
		{`return json.encode({x = {y = 0/0}})`, `raised: <string>:1: json.encode: value.x.y is NaN, which JSON has not; leave it out, or use json.null`},
		{`return json.encode()`, `raised: <string>:1: bad argument #1 to encode (value expected)`},
		{`pcall(json.encode, {a = {b = {print}}}); return json.encode({c = 1})`, `{"c":1}`},
	}, "json")
}

func TestJSONEncodeForeignUserdata(t *testing.T) {
	t.Parallel()
	v := moduleVM(t)
	if _, err := appendJSON(nil, "item", v.L.NewUserData()); err == nil || !strings.Contains(err.Error(), "item is a userdata") {
		t.Errorf("got %v", err)
	}
}

func TestJSONDecode(t *testing.T) {
	t.Parallel()
	runCases(t, []moduleCase{
		{`return json.decode('{"a": [1, 2.5, "x", true, null], "b": {}}').a[2]`, `2.5`},
		{`return json.decode('[null]')[1] == json.null, json.null`, `true|null`},
		{`return json.decode(' 7 '), json.decode('"\\u00e9\\ud83d\\ude00"')`, `7|é😀`},
		{`return json.decode('{"a":1,"a":2}').a`, `2`},
		{`local v = json.decode('7123456789012345678'); return type(v), v`, `string|7123456789012345678`},
		{`return json.encode(json.decode('[9007199254740992,9007199254740993,-9007199254740993,123456789012345678901234567890]'))`,
			`[9007199254740992,"9007199254740993","-9007199254740993","123456789012345678901234567890"]`},
		{`return type(json.decode('1e20')), json.decode('1e2'), json.decode('-0')`, `number|100|0`},
		{`return json.encode(json.decode('"\\ud83d"'))`, "\"\ufffd\""},
		{`return json.decode("\239\187\191[]") ~= nil`, `true`},
		{`return getmetatable(json.decode("[]")), getmetatable(json.null)`, `json.array|json.null`},
		{`return pcall(setmetatable, json.decode("[]"), {})`, `false|<string>:1: cannot change a protected metatable`},
		{`return json.decode()`, `raised: <string>:1: bad argument #1 to decode (string expected, got nil)`},
		{`return json.decode(5)`, `raised: <string>:1: bad argument #1 to decode (string expected, got number)`},
		{`return json.array("x")`, `raised: <string>:1: bad argument #1 to array (table expected, got string)`},
	}, "json")
}

func TestJSONDecodeErrorsAreReturned(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want string }{
		{"", "the text is empty"}, {"  \n", "the text is empty"},
		{`[1, 2`, "at byte 5"}, {`{"a" 1}`, "at byte 5"}, {`[1,]`, "at byte 2"}, {`{"a":1,}`, "at byte 6"},
		{`[] x`, "follows the value at byte"}, {`{} {}`, "follows the value"}, {`[1 2]`, "at byte 3"},
		{`nul`, "at byte"}, {`NaN`, "at byte 0"}, {`'a'`, "at byte 0"}, {`01`, "follows"}, {`+1`, "at byte 0"}, {`.5`, "at byte 0"},
		{"\"a\x01\"", "at byte 2"}, {"\"a\xff\"", "not UTF-8 at byte 2"}, {`"\x"`, "at byte 1"}, {`"abc`, "at byte 4"},
		{`1e999`, "out of range"}, {`{1:2}`, "at byte 1"}, {`<html>`, "at byte 0"},
		{strings.Repeat("[", 300), "nested deeper than 200"}, {strings.Repeat(`{"a":`, 300), "nested deeper than 200"},
		{"[" + strings.Repeat("0,", 1<<20) + "0]", "more than 1048576 values"},
	}
	v := moduleVM(t, "json")
	for _, c := range cases {
		lv, err := v.decodeJSON([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: got %v, %v; want %q", c.text, lv, err, c.want)
		}
	}
	if got := eval(t, v, `return json.decode("<html>")`); !strings.HasPrefix(got, "nil|json: ") {
		t.Errorf("got %s", got)
	}
}

func TestJSONDecodeStopsWithTheScript(t *testing.T) {
	t.Parallel()
	v := moduleVM(t)
	ctx, cancel := context.WithCancel(t.Context())
	v.L.SetContext(ctx)
	cancel()
	if _, err := v.decodeJSON([]byte("[" + strings.Repeat("0,", 5000) + "0]")); err == nil {
		t.Error("decoded to the end")
	}
}

// VMs share json.null, the array mark and the encoders; -race watches.
func TestJSONConcurrentVMs(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			v := moduleVM(t, "json")
			got := eval(t, v, `local s = '{"a":[1,null,[]],"b":{"c":"d"}}'; for i = 1, 200 do s = json.encode(json.decode(s)) end; return s, json.null`)
			if got != `{"a":[1,null,[]],"b":{"c":"d"}}|null` {
				t.Error(got)
			}
		})
	}
	wg.Wait()
}

func FuzzJSONRoundTrip(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,null],"b":{}}`, `[]`, `"\ud83d"`, `[1e308,-0.0,12345678901234567890]`, `{"":{"":[[]]}}`} {
		f.Add([]byte(s))
	}
	v := moduleVM(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		lv, err := v.decodeJSON(b)
		if err != nil {
			return
		}
		once, err := appendJSON(nil, "item", lv)
		if err != nil {
			t.Fatalf("decoded but not encoded: %v", err)
		}
		again, err := v.decodeJSON(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, _ := appendJSON(nil, "item", again); string(twice) != string(once) {
			t.Fatalf("%s became %s", once, twice)
		}
	})
}

func BenchmarkJSONEncodeItem(b *testing.B) {
	v := moduleVM(b)
	if err := v.L.DoString(`return {title = "A title of some length & more", url = "https://news.example/a/123", price = 12.5, id = 7, tags = {"a", "b"}}`); err != nil {
		b.Fatal(err)
	}
	item := v.L.Get(-1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := appendJSON(nil, "item", item); err != nil {
			b.Fatal(err)
		}
	}
}
