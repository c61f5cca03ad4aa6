package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

const selectPage = `<!doctype html><title>T</title><body>
<div id=one class="card big"><a href=/1 class=x>first <b>bold</b> tail</a><p>para</p></div>
<div id=two class="card"><a href=/2>second</a><a name=anchor>no link</a><svg><a href=/svg>s</a></svg></div>
<p lang=en>outer <a href=/3>third</a></p></body>`

func TestSelect(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		css  string
		want []string
	}{
		{"a::attr(href)", []string{"/1", "/2", "/svg", "/3"}},
		{"a.x::text", []string{"first ", " tail"}},
		{"a.x ::text", []string{"first ", "bold", " tail"}},
		{"a.x *::text", []string{"first ", "bold", " tail"}},
		{"#one > ::text", []string{"first ", " tail", "para"}},
		{"#one ::attr(class)", []string{"card big", "x"}},
		{"#one>a ::attr(class)", []string{"x"}},
		{"title::text, p::attr(lang), b", []string{"T", "<b>bold</b>", "en"}},
		{"p::text,p a::text", []string{"para", "outer ", "third"}},
		{"a::text, a ::text", []string{"first ", "bold", " tail", "second", "no link", "s", "third"}},
		{"a::attr(href), a::attr(href)", []string{"/1", "/2", "/svg", "/3"}},
		{"a::attr(HREF)", []string{"/1", "/2", "/svg", "/3"}},
		{"a[href='/1'],a[href=\"/2\"]::text", []string{`<a class="x" href="/1">first <b>bold</b> tail</a>`, "second"}},
		{`a[name="a::text,b"]`, nil},
		{"a:not(.x, [name])::text", []string{"second", "s", "third"}},
		{"nothing::text", nil},
		{"A.x B::text", []string{"bold"}},
		{"p:contains('para')::text", []string{"para"}},
	} {
		r := htmlPage("http://h/", selectPage)
		sel := r.Select(selector(t, tt.css))
		if got := sel.GetAll(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.css, got, tt.want)
		}
		first, ok := htmlPage("http://h/", selectPage).Select(selector(t, tt.css)).Get()
		if ok != (len(tt.want) > 0) || ok && first != tt.want[0] {
			t.Errorf("%s: Get is %q, %v", tt.css, first, ok)
		}
		if again, _ := sel.Get(); again != first || sel.Len() != len(tt.want) {
			t.Errorf("%s: Get after GetAll is %q, want %q; Len %d", tt.css, again, first, sel.Len())
		}
	}
}

func TestBareAttr(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://h/", selectPage)
	a := r.Select(selector(t, "#one")).Select(selector(t, "a"))
	if got, _ := a.Select(selector(t, "::attr(href)")).Get(); got != "/1" {
		t.Errorf("::attr(href) of an a is %q", got)
	}
	if got := a.Select(selector(t, "::text")).GetAll(); !slices.Equal(got, []string{"first ", "bold", " tail"}) {
		t.Errorf("::text of an a is %q", got)
	}
	if got := a.Select(selector(t, "*::attr(class)")).GetAll(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("*::attr(class) of an a is %q", got)
	}
	if n := a.Select(selector(t, "a::text")).Len(); n != 0 {
		t.Errorf("a selection's own elements are not below it, yet a::text has %d", n)
	}
}

func TestSelectionChained(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://h/", `<div id=a><div id=b><p>1</p></div><p>2</p></div><div id=c><p>3</p></div>`)
	divs := r.Select(selector(t, "div"))
	if got := divs.Select(selector(t, "p::text")).GetAll(); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("each match once and in document order, got %q", got)
	}
	if got, _ := divs.At(2).Select(selector(t, "p")).Get(); got != "<p>3</p>" {
		t.Errorf("below the third div: %q", got)
	}
	if divs.At(3).Len() != 0 || divs.At(-1).Len() != 0 {
		t.Error("At out of range has a match")
	}
	if id, ok := divs.At(1).Attr("id"); !ok || id != "b" {
		t.Errorf("id of the second is %q", id)
	}
	if divs.Text() != "12" {
		t.Errorf("text of the first is %q", divs.Text())
	}
	empty := r.Select(selector(t, "table"))
	if _, ok := empty.Get(); ok || empty.Text() != "" || empty.Len() != 0 || empty.Select(selector(t, "p")).Len() != 0 {
		t.Error("an empty selection has something")
	}
	if n := r.Select(selector(t, "p::text")).Select(selector(t, "p")).Len(); n != 0 {
		t.Errorf("there are %d elements below strings", n)
	}
}

func TestSelectorErrorsQuote(t *testing.T) {
	t.Parallel()
	for css, want := range map[string]string{
		"":                 "expected selector",
		"a[":               "EOF",
		"a::txt":           "::text, ::attr(name)",
		"a::attr":          "::text, ::attr(name)",
		"a::attr()":        "::attr(href)",
		"a::attr('href')":  "::attr(href)",
		"a, ":              "expected selector",
		"a:foo":            "unknown pseudoclass",
		"a::text b":        "::text b",
		"a:not(b::text)":   "text",
		"a)":               "left over",
		"a > ":             "EOF",
		"a::before":        "before",
		"li:nth-child(2n+": "integer",
	} {
		_, err := CompileSelector(css)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", css)) {
			t.Errorf("%q: error %v, want the selector and %q in it", css, err, want)
		}
	}
}

// simpleSelectors are of the shapes that do without cascadia.
var simpleSelectors = []string{
	"a", "A", "title", "h1", "div", "svg", "foreignobject", "custom-tag", "a[href]", "A[HREF]", "div[data-x]", ".card", "div.card",
	".big", "#one", "div#one", "p#one", ".x-y_z", "link[rel]", "span.element-name", ".col-first", "dt", "[id]", "image",
}

func TestSimpleSelectorsAreCascadias(t *testing.T) {
	t.Parallel()
	pages := samplePages(t)
	pages["own"] = selectPage
	pages["odd"] = `<div class=" card	big
x"><svg><foreignObject class=CARD><p id=one></p></foreignObject><image></svg><custom-tag data-x><p class id></p><A HREF=1 href=2>` +
		`<math><a xlink:href=x></a></math><div class=card class=big>`
	for name, body := range pages {
		doc := parseDocument(body)
		for _, css := range simpleSelectors {
			s, ok := parseSimple(css)
			if !ok {
				t.Fatalf("%s is not simple", css)
			}
			same(t, name+" "+css, s, css, doc.root)
		}
	}
}

// same compares a fast path with cascadia.
func same(t testing.TB, what string, s *simple, css string, root *html.Node) {
	t.Helper()
	ref, err := cascadia.Parse(css)
	if err != nil {
		t.Fatalf("%s is none of cascadia's: %v", what, err)
	}
	var got []*html.Node
	for _, m := range s.find(nil, root, 0) {
		got = append(got, m.node)
	}
	if want := cascadia.QueryAll(root, ref); !slices.Equal(got, want) {
		t.Errorf("%s: %d matches, cascadia has %d", what, len(got), len(want))
	}
}

func FuzzSimpleSelector(f *testing.F) {
	for _, css := range simpleSelectors {
		f.Add(css, selectPage)
	}
	f.Fuzz(func(t *testing.T, css, body string) {
		if s, ok := parseSimple(css); ok {
			same(t, css, s, css, parseDocument(body).root)
		}
	})
}

func FuzzCompileSelector(f *testing.F) {
	for _, css := range append(simpleSelectors, "a ::text", "a > ::attr(x), b", `a["x::text,"]`, "*::text", "a::text::text", `\::text`) {
		f.Add(css)
	}
	f.Fuzz(func(t *testing.T, css string) {
		s, err := CompileSelector(css)
		if err != nil {
			return
		}
		r := htmlPage("http://h/", selectPage)
		all := r.Select(s).GetAll()
		if first, ok := htmlPage("http://h/", selectPage).Select(s).Get(); ok != (len(all) > 0) || ok && first != all[0] {
			t.Errorf("%q: Get is %q, GetAll %q", css, first, all)
		}
	})
}

func TestSelectorCacheIsBounded(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range selectorCacheSize {
				if _, err := CompileSelector(fmt.Sprintf("a.c%d-%d", g%2, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := compiledSelectors.Len(); n > selectorCacheSize {
		t.Errorf("%d selectors are kept", n)
	}
}
