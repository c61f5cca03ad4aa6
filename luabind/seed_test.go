package luabind_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"luacrawl/engine"
	"luacrawl/luabind"
	"luacrawl/luabind/luabindtest"
	"luacrawl/scheduler"
)

func TestDefaultSeeds(t *testing.T) {
	t.Parallel()
	s := spider(t, "")
	for seed, want := range map[string]string{
		"http://x.test/a":                          `GET http://x.test/a  0 true map[] "" meta= kwargs=`,
		" https://X.test \n":                       `GET https://x.test/  0 true map[] "" meta= kwargs=`,
		`{"url":"http://x.test/"}`:                 `GET http://x.test/  0 true map[] "" meta= kwargs=`,
		`{"url":"http://x.test/","n":1e3,"m":"&"}`: `GET http://x.test/  0 true map[] "" meta={"m":"&","n":1e3} kwargs=`,
		`{"url":"http://x.test/","slot":"API"}`:    `GET http://x.test/  0 true map[] "" meta= kwargs=`,
		`{"url":"http://x.test/","meta":null}`:     `GET http://x.test/  0 true map[] "" meta= kwargs=`,
		// A key is known by its exact name only.
		`{"url":"http://x.test/","URL":"http://y.test/","Body":"b","meta":null}`: `GET http://x.test/  0 true map[] "" meta={"Body":"b","URL":"http://y.test/"} kwargs=`,
		`{"url":"http://x.test/","method":"post","body":"a=b","headers":{"x-a":"1"},"priority":-5,"callback":"other","dont_filter":false,"meta":{"id":9007199254740993},"cb_kwargs":{"p":1}}`: `POST http://x.test/ other -5 false map[X-A:[1]] "a=b" meta={"id":9007199254740993} kwargs={"p":1}`,
	} {
		out, err := s.Seed(seed)
		if err != nil || len(out.Requests) != 1 {
			t.Errorf("%s: %v, %v", seed, out, err)
			continue
		}
		r := out.Requests[0]
		if wantSlot := map[bool]string{true: "api"}[strings.Contains(seed, "slot")]; r.Slot != wantSlot {
			t.Errorf("%s: slot %q", seed, r.Slot)
		}
		method := r.Method
		if method == "" {
			method = "GET"
		}
		got := fmt.Sprintf("%s %s %s %d %v %v %q meta=%s kwargs=%s", method, r.URL, r.Callback, r.Priority, r.DontFilter, r.Headers, r.Body, r.Meta, r.CbKwargs)
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", seed, got, want)
		}
	}
}

func TestCookiesOfSeeds(t *testing.T) {
	t.Parallel()
	no := false
	s := spider(t, "")
	for cookies, want := range map[string]scheduler.RequestCookies{
		`{"b":"2","a":1}`: {{Name: "a", Value: "1"}, {Name: "b", Value: "2"}},
		`null`:            nil,
		`[{"name":"a","value":"1","domain":"x.test","path":"/p","secure":false,"httpOnly":true},{"name":"b","value":-1.50}]`: {
			{Name: "a", Value: "1", Domain: "x.test", Path: "/p", Secure: &no}, {Name: "b", Value: "-1.50"},
		},
	} {
		out, err := s.Seed(`{"url":"http://x.test/","cookies":` + cookies + `}`)
		if err != nil {
			t.Errorf("%s: %v", cookies, err)
		} else if got := out.Requests[0]; !reflect.DeepEqual(got.Cookies, want) || got.Meta != nil {
			t.Errorf("%s: %+v, meta %s", cookies, got.Cookies, got.Meta)
		}
	}
}

// TestBadSeeds: the reason goes to a dead letter, and is no mistake of the script.
func TestBadSeeds(t *testing.T) {
	t.Parallel()
	s := spider(t, "")
	for seed, want := range map[string]string{
		"":            "it is empty; push a URL or a JSON object with url",
		"example":     "it is neither a JSON object nor an absolute URL, which begins with http:// or https://",
		"x.test/page": "it is neither a JSON object nor an absolute URL",
		"http://x.test/" + strings.Repeat("x", 9000):                "its URL has 9014 bytes; a URL may have 8192",
		`{"url":"http://x.test/` + strings.Repeat("x", 9000) + `"}`: "its url has 9014 bytes; a URL may have 8192",
		"ftp://x.test/": "it is neither a JSON object nor an absolute URL",
		`["http://x"]`:  "it is neither a JSON object nor an absolute URL",
		`"http://x"`:    "it is neither a JSON object nor an absolute URL",
		"5":             "it is neither a JSON object nor an absolute URL",
		"\xff\xfe":      "it is not UTF-8; a spider reads other bytes in make_request_from_data",
		"{\"url\":\"http://x.test/\",\"meta\":{\"a\":\"\xff\"}}": "it is not UTF-8",
		`{"url":5}`:                             "url holds a JSON number; it must be a string",
		`{"url":"/x"}`:                          `url "/x" is not an absolute URL, which begins with http:// or https://`,
		`{"a":1}`:                               `it has no url; a seed that is JSON needs one: {"url": "https://..."}`,
		`{"url"`:                                "it begins like a JSON object and is none: unexpected end of JSON input",
		`{"url":"http://x.test/","slot":"a/b"}`: `slot: "a/b" has a path`,
		`{"url":"http://x.test/","priority":"high"}`:       "priority holds a JSON string; it must be a whole number",
		`{"url":"http://x.test/","priority":1.5}`:          "priority holds a JSON number 1.5; it must be a whole number",
		`{"url":"http://x.test/","priority":1e10}`:         "priority holds a JSON number 1e10; it must be a whole number of at most 9 digits",
		`{"url":"http://x.test/","meta":[1]}`:              "meta holds a JSON array; it must be an object",
		`{"url":"http://x.test/","cb_kwargs":[1]}`:         "cb_kwargs is not a JSON object",
		`{"url":"http://x.test/","method":"A B"}`:          `method "A B" is not an HTTP method`,
		`{"url":"http://x.test/","headers":{"a b":"c"}}`:   `header "a b": "c" cannot be sent`,
		`{"url":"http://x.test/","headers":{"a":1}}`:       "headers holds a JSON number; it must be an object of strings",
		`{"url":"http://x.test/","cookies":"a=1"}`:         "cookies must be an object of names and values, or a list of objects with name and value",
		`{"url":"http://x.test/","cookies":{"a":[1]}}`:     "cookies hold a value that is neither a string nor a number",
		`{"url":"http://x.test/","cookies":[{"value":1}]}`: "cookie 1 of the list has no name",
		`{"url":"http://x.test/","cookies":{"":"b"}}`:      "it has a cookie that is none: a cookie without a name",
		`{"url":"http://x.test/","cookies":[1]}`:           "cookies must be a list of objects with name, value, domain and path",
		`{"url":"http://x.test/","cookies":{"a":"b;c"}}`:   `it has a cookie that is none: cookie "a": ";" in name`,
		`{"url":"http://x.test/","callback":"othr"}`:       `callback "othr" is no function of the spider; did you mean "other"?`,
		"http://x.test/ http://y.test/" + "\x00":           "",
		`{"url":"http://x.test/","dont_filter":"perhaps"}`: "dont_filter holds a JSON string; it must be true or false",
	} {
		out, err := s.Seed(seed)
		if want == "" {
			continue
		}
		var e *engine.ScriptError
		if err == nil || errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q\ngot  %v, %v\nwant %s", seed, out, err, want)
		}
	}
}

// TestSeedWithoutParse: the spider is one whose seeds name their callbacks.
func TestSeedWithoutParse(t *testing.T) {
	t.Parallel()
	s := luabindtest.Spider(t, luabindtest.Files{luabindtest.Main: "local s = { name = 'a' }\nfunction s.list() emit(request { url = 'http://x.test/' }) end\nreturn s"})
	const want = `the request names no callback and the spider has no function parse; define function spider.parse(response), or name one of ["list"]`
	if _, err := s.Seed("http://x.test/"); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	out, err := s.Seed(`{"url":"http://x.test/","callback":"list"}`)
	if err != nil || len(out.Requests) != 1 {
		t.Fatalf("%v, %v", out, err)
	}
	if _, err := s.Callback(out.Requests[0], ""); err == nil || !strings.HasSuffix(err.Error(), "lua:2: "+want) {
		t.Errorf("a request without a callback: %v", err)
	}
}

func TestSeedWarnsOnceOfKeysThatNothingReads(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := luabindtest.SpiderWith(t, luabindtest.Files{luabindtest.Main: "local s = { name = 'a' } function s.parse() end return s"},
		luabind.Options{Logger: slog.New(slog.NewTextHandler(&b, nil))})
	for range 3 {
		if _, err := s.Seed(`{"url":"http://x.test/","urll":1}`); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(b.String(), "urll"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, &b)
	}
}

func TestMakeRequestFromData(t *testing.T) {
	t.Parallel()
	s := spider(t, "", `function spider.make_request_from_data(data)
  local u = function(n) return request { url = "http://x.test/" .. n, dont_filter = true } end
  if data == "one" then return u(1) end
  if data == "list" then return { u(1), u(2) } end
  if data == "empty list" then return {} end if data == "emit" then emit(u(3)) end
  if data == "item" then emit { a = 1 } return u(4) end
  if data == "number" then return 5 end
  if data == "table" then return { a = 1 } end
  if data == "callback" then return request { url = "http://x.test/", callback = "nope" } end
  if data == "raise" then error("bad data") end
  if data == "\255" then return u("raw") end
end`)
	for seed, want := range map[string]string{
		"one": " http://x.test/1 ", "list": " http://x.test/1 \n http://x.test/2 ", "emit": " http://x.test/3 ",
		"item": "item {\"a\":1}\n http://x.test/4 ", "skip": "", "empty list": "", "\xff": " http://x.test/raw ",
	} {
		out, err := s.Seed(seed)
		if err != nil || show(out) != want {
			t.Errorf("%q: got %q, %v, want %q", seed, show(out), err, want)
		}
	}
	for seed, want := range map[string]string{
		"number":   "spiders/spider.lua:6: make_request_from_data returned a number; return a request, a list of requests, or nothing to skip the seed",
		"table":    "make_request_from_data returned a table; return a request",
		"callback": `spiders/spider.lua:6: callback "nope" is no function of the spider`,
		"raise":    "spiders/spider.lua:15: bad data",
	} {
		_, err := s.Seed(seed)
		var e *engine.ScriptError
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), want) && !strings.Contains(e.Error(), want) {
			t.Errorf("%q\ngot  %v\nwant %s", seed, err, want)
		}
	}
}

func TestSeedsFunction(t *testing.T) {
	t.Parallel()
	s := spider(t, "", `function spider.seeds() return { "http://x.test/", { url = "http://y.test/", meta = { a = 1 } } } end`)
	seeds, err := s.Seeds(t.Context())
	if got := fmt.Sprintf("%s", seeds); err != nil || got != `[http://x.test/ {"meta":{"a":1},"url":"http://y.test/"}]` {
		t.Errorf("got %s, %v", got, err)
	}
	if seeds, err := spider(t, "").Seeds(t.Context()); len(seeds) != 0 || err != nil {
		t.Errorf("without the function: %s, %v", seeds, err)
	}
	for body, want := range map[string]string{
		`return 5`:                          "spiders/spider.lua:6: seeds returned a number",
		`return { url = "http://x.test/" }`: "seeds returned one seed; it must return a list",
		`return { 5 }`:                      "seeds returned a list with a number at 1",
		`return { { f = print } }`:          "seeds: seed[1].f",
		``:                                  "seeds returned nothing",
	} {
		_, err := spider(t, "", "function spider.seeds() "+body+" end").Seeds(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", body, err, want)
		}
	}
}
