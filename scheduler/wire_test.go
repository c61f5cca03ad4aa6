package scheduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestWireForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"bare":     {Request{URL: "http://a.test/?a=1&b=<2>"}, `{"v":1,"url":"http://a.test/?a=1&b=<2>"}`},
		"defaults": {Request{URL: "http://a.test/", Method: "GET", Callback: "parse", Meta: json.RawMessage("{}"), CbKwargs: json.RawMessage("null")}, `{"v":1,"url":"http://a.test/"}`},
		"all": {
			Request{
				URL: "http://a.test/", Method: "POST", Headers: http.Header{"A": {"1", "2"}}, Cookies: RequestCookies{{Name: "c", Value: "d"}},
				Body: []byte("é"), Callback: "detail", Errback: "failed", Meta: json.RawMessage(`{"depth": 1}`), CbKwargs: json.RawMessage(`{"x":[1]}`),
				Priority: -3, DontFilter: true, NotBefore: time.UnixMilli(1700000000123), Slot: "api",
				Depth: 2, RedirectTimes: 3, Trail: "12ab", RetryTimes: 4, Returned: 5, Revision: "ab12",
			},
			`{"v":1,"url":"http://a.test/","method":"POST","headers":{"A":["1","2"]},"cookies":{"c":"d"},"body":"é","callback":"detail","errback":"failed",` +
				`"meta":{"depth":1},"cb_kwargs":{"x":[1]},"priority":-3,"dont_filter":true,"not_before":1700000000123,"slot":"api",` +
				`"state":{"depth":2,"redirect_times":3,"trail":"12ab","retry_times":4,"returned":5,"revision":"ab12"}}`,
		},
		"cookies with more to say": {
			Request{URL: "http://a.test/", Cookies: RequestCookies{{Name: "c", Value: "<&>", Domain: "a.test", Path: "/p", Secure: new(bool)}, {Name: "d"}}},
			`{"v":1,"url":"http://a.test/","cookies":[{"name":"c","value":"<&>","domain":"a.test","path":"/p","secure":false},{"name":"d","value":""}]}`,
		},
		"cookies of one name": {
			Request{URL: "http://a.test/", Cookies: RequestCookies{{Name: "c", Value: "1"}, {Name: "c", Value: "2"}}},
			`{"v":1,"url":"http://a.test/","cookies":[{"name":"c","value":"1"},{"name":"c","value":"2"}]}`,
		},
		"a Referer alone":    {Request{URL: "http://a.test/", Headers: http.Header{"Referer": {"http://b.test/"}}}, `{"v":1,"url":"http://a.test/","referer":"http://b.test/"}`},
		"an empty Referer":   {Request{URL: "http://a.test/", Headers: http.Header{"Referer": {""}}}, `{"v":1,"url":"http://a.test/","headers":{"Referer":[""]}}`},
		"a Referer and more": {Request{URL: "http://a.test/", Headers: http.Header{"Referer": {"r"}, "X": {"1"}}}, `{"v":1,"url":"http://a.test/","headers":{"Referer":["r"],"X":["1"]}}`},
		"binary body":        {Request{URL: "http://a.test/", Method: "PUT", Body: []byte{0xff, 0}}, `{"v":1,"url":"http://a.test/","method":"PUT","body_base64":"/wA="}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.r.Encode()
			if err != nil || string(got) != c.want {
				t.Fatalf("%s, %v\nwant %s", got, err, c.want)
			}
			back, err := DecodeRequest(got)
			if err != nil {
				t.Fatal(err)
			}
			again, err := back.Encode()
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("round trip: %s, %v", again, err)
			}
			if name == "all" {
				c.r.Meta = json.RawMessage(`{"depth":1}`)
				if !reflect.DeepEqual(*back, c.r) {
					t.Errorf("%+v\nwant %+v", *back, c.r)
				}
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Request{
		"no url":                    {},
		`header "X" is not UTF-8`:   {URL: "http://a.test/", Headers: http.Header{"X": {"\xff"}}},
		`cookie "c" is not UTF-8`:   {URL: "http://a.test/", Cookies: RequestCookies{{Name: "c", Value: "\xff"}}},
		"meta is not a JSON object": {URL: "http://a.test/", Meta: json.RawMessage(`[1]`)},
		"unexpected end":            {URL: "http://a.test/", CbKwargs: json.RawMessage(`{"a":`)},
		"url is not UTF-8":          {URL: "http://a.test/\xff"},
	} {
		if b, err := r.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, %v; want %s", b, err, want)
		}
	}
}

func TestMaxMember(t *testing.T) {
	t.Parallel()
	overhead := len(`{"v":1,"url":"http://a.test/","body":""}`)
	fits := Request{URL: "http://a.test/", Body: bytes.Repeat([]byte("x"), MaxMember-headSize-overhead)}
	if _, err := fits.Encode(); err != nil {
		t.Error(err)
	}
	fits.Body = append(fits.Body, 'x')
	if _, err := fits.Encode(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                      "not a request in JSON",
		"\x80\x04\x95pickle":                    "not a request in JSON",
		`{"v":1,"url":"http://a.test/"}x`:       "not a request in JSON",
		`{"v":2,"url":"http://a.test/"}`:        "request of version 2: this luacrawl reads version 1",
		`{"url":"http://a.test/"}`:              "version 0",
		`{"v":1}`:                               "no url",
		`[]`:                                    "not a request in JSON",
		`null`:                                  "version 0",
		`{"v":1,"url":"u","priority":"high"}`:   "priority",
		`{"v":1,"url":"u","cookies":"a=1"}`:     "cookies must be an object",
		`{"v":1,"url":"u","cookies":{"a":[]}}`:  "neither a string nor a number",
		`{"v":1,"url":"u","meta":[1]}`:          "meta is not a JSON object",
		`{"v":1,"url":"u","body_base64":"%%"}`:  "base64",
		`{"v":1,"url":"u","priority":1e99}`:     "priority",
		strings.Repeat(`{"meta":`, 20000) + "1": "not a request in JSON",
		`{"v":1,"url":"u","body":"a","body_base64":"YQ=="}`:             "both body and body_base64",
		`{"v":1,"url":"u","headers":{"X":["1"]},"referer":"http://b/"}`: "both headers and referer",
	} {
		if r, err := DecodeRequest([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %+v, %v; want %s", in, r, err, want)
		}
	}
}

func TestDecodePassesOverUnknownFields(t *testing.T) {
	t.Parallel()
	if r, err := DecodeRequest([]byte(`{"v":1,"url":"http://a.test/","later":true}`)); err != nil || r.URL != "http://a.test/" {
		t.Errorf("%+v, %v", r, err)
	}
}

// What is written and read without encoding/json is what that writes and reads.
func TestPlainForm(t *testing.T) {
	t.Parallel()
	for text, plain := range map[string]bool{
		`{"v":1,"url":"http://a.test/?a=1&b=<2>"}`: true,
		`{"v":1,"url":"http://a.test/","referer":"http://b.test/","callback":"c","errback":"e","state":{"depth":12,"revision":"ab12"}}`: true,
		`{"v":1,"url":"http://a.test/","state":{"depth":1}}`:                                                                            true,
		`{"v":1,"url":"http://a.test/","state":{"revision":"ab12"}}`:                                                                    true,
		`{"v":1,"url":"http://a.test/","state":{"depth":1,"retry_times":1}}`:                                                            false,
		`{"v":1,"url":"http://a.test/","errback":"e","callback":"c"}`:                                                                   false,
		`{"v":1,"url":"http://a.test/","callback":"\u0063"}`:                                                                            false,
		`{"v":1,"url":"http://a.test/","callback":"é"}`:                                                                                 false,
		`{"v":1,"url":"http://a.test/","priority":1}`:                                                                                   false,
		`{"v":1,"url":"http://a.test/","state":{"depth":0,"revision":"ab12"}}`:                                                          false,
		`{"v":1,"url":"http://a.test/","state":{"depth":+1,"revision":"ab12"}}`:                                                         false,
		`{"v":1,"url":"http://a.test/"} `:                                                                                               false,
		`{"v":1,"url":""}`:                                                                                                              false,
	} {
		r, ok := readPlain(text)
		if ok != plain {
			t.Errorf("%s: plain %v", text, ok)
		}
		slow, err := decodeRequest([]byte(text))
		if ok && (err != nil || !reflect.DeepEqual(r, slow)) {
			t.Errorf("%s: %+v\nencoding/json %+v, %v", text, r, slow, err)
		}
		if b, err := r.Encode(); ok && (err != nil || string(b) != text) {
			t.Errorf("%s\n%s, %v", text, b, err)
		}
	}
}

// A field that is new in the wire form must not be lost by the plain one.
func TestPlainFormKnowsAllFields(t *testing.T) {
	t.Parallel()
	check := func(name string, w *wire) {
		want, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := w.appendPlain(nil); ok && !bytes.Equal(b, want) {
			t.Errorf("with %s: %s, encoding/json %s", name, b, want)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[wire]()) {
		w := &wire{Version: WireVersion, URL: "http://a.test/"}
		if f.Type == reflect.TypeFor[*wireState]() {
			continue
		}
		setSome(t, reflect.ValueOf(w).Elem().FieldByIndex(f.Index))
		if f.Name != "Version" {
			check(f.Name, w)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[wireState]()) {
		w := &wire{Version: WireVersion, URL: "http://a.test/", State: &wireState{}}
		setSome(t, reflect.ValueOf(w.State).Elem().FieldByIndex(f.Index))
		check("state "+f.Name, w)
	}
}

// setSome gives a field a value that is not its zero.
func setSome(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
		v.Set(m)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("{\"a\":1}"))
		}
	default:
		t.Fatalf("a field of type %v: the test needs a value for it", v.Type())
	}
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(`{"v":1,"url":"http://a.test/","referer":"r","callback":"c","errback":"e","state":{"depth":12,"revision":"ab12"}}`))
	f.Add([]byte(`{"v":1,"url":"http://a.test/","body":"é","state":{"depth":1}}`))
	f.Add([]byte(`{"v":1,"url":"http://a.test/","body_base64":"/wA=","not_before":-1,"priority":-9223372036854775808}`))
	f.Add([]byte("\x80\x04"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := DecodeRequest(in)
		if err != nil {
			return
		}
		if plain, ok := readPlain(string(in)); ok {
			if slow, err := decodeRequest(in); err != nil || !reflect.DeepEqual(plain, slow) {
				t.Fatalf("%+v\nencoding/json %+v, %v", plain, slow, err)
			}
		}
		b, err := r.Encode()
		if err != nil {
			if errors.Is(err, ErrTooLarge) {
				return
			}
			t.Fatalf("decoded but not encoded: %v", err)
		}
		back, err := DecodeRequest(b)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := back.Encode(); !bytes.Equal(again, b) {
			t.Errorf("%s\n%s", b, again)
		}
	})
}
