package engine

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"luacrawl/scheduler/weburl"
)

func patterns(t testing.TB, exprs ...string) []*Pattern {
	t.Helper()
	var ps []*Pattern
	for _, e := range exprs {
		p, err := CompilePattern(e)
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	return ps
}

const linkPage = `<nav><a href=" /a.html#top ">1</a><a href="b.html">2</a></nav>
<a href="/a.html">again</a><a name=x>no</a><map><area href="http://other:81/c.html"></map>
<a href="JavaScript:void(0)">js</a><a href="java
script:x">js</a><a href=mailto:x@y>m</a><a href="tel:1">t</a><a href="http://[bad/">bad</a><a href="ftp://h/f">ftp</a>
<a href="#frag">self</a><a href="https://h:8080/s.html">https</a><a href="HTTP://H:8080/UP.html">up</a>
<div class=more><a href="x.html?q=1">x</a><div class=more><a href="y.pdf">y</a></div></div>`

func TestLinks(t *testing.T) {
	t.Parallel()
	const h = "http://h:8080"
	all := []string{h + "/a.html", h + "/d/b.html", "http://other:81/c.html", h + "/d/p.html", "https://h:8080/s.html", h + "/UP.html",
		h + "/d/x.html?q=1", h + "/d/y.pdf"}
	for _, tt := range []struct {
		name   string
		filter LinkFilter
		want   []string
	}{
		{"all", LinkFilter{}, all},
		{"same host", LinkFilter{SameHost: true}, slices.DeleteFunc(slices.Clone(all), func(u string) bool { return u == all[2] })},
		{"allow is unanchored", LinkFilter{Allow: patterns(t, `/[bc]\.`)}, []string{all[1], all[2]}},
		{"allow sees no fragment", LinkFilter{Allow: patterns(t, `a\.html$`)}, all[:1]},
		{"any of allow", LinkFilter{Allow: patterns(t, `pdf$`, `UP`)}, []string{all[5], all[7]}},
		{"deny wins", LinkFilter{Allow: patterns(t, `html`), Deny: patterns(t, `^http://h`, `^https`)}, all[2:3]},
		{"restrict, each once", LinkFilter{Restrict: selector(t, ".more")}, all[6:]},
		{"restrict to the link itself", LinkFilter{Restrict: selector(t, "nav a")}, all[:2]},
		{"repeated", LinkFilter{All: true, Allow: patterns(t, `/a\.html`)}, []string{all[0], all[0]}},
		{"restrict to strings", LinkFilter{Restrict: selector(t, "a::text")}, nil},
	} {
		got, err := htmlPage(h+"/d/p.html", linkPage).Links(tt.filter)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v\ngot  %q\nwant %q", tt.name, err, got, tt.want)
		}
	}
}

func TestLinksOfABadURL(t *testing.T) {
	t.Parallel()
	if _, err := htmlPage("not a url", linkPage).Links(LinkFilter{}); err == nil || !strings.Contains(err.Error(), "not a url") {
		t.Errorf("error is %v", err)
	}
}

func TestBase(t *testing.T) {
	t.Parallel()
	const own = "http://h/d/p.html"
	for _, tt := range []struct{ body, want string }{
		{`<a href=x>`, "http://h/d/x"},
		{`<base href="http://cdn/e/">`, "http://cdn/e/x"},
		{`<BASE HREF=" ../up/ ">`, "http://h/up/x"},
		{`<base target=_blank><base href="/one/"><base href="/two/">`, "http://h/one/x"},
		{`<base href="javascript:1">`, "http://h/d/x"},
		{`<base href="http://[">`, "http://h/d/x"},
		{`<!-- <base href="/no/"> -->`, "http://h/d/x"},
		{`<svg><base href="/no/"></svg>`, "http://h/d/x"},
		{`<basefont href="/no/">`, "http://h/d/x"},
		{"<div><base\nhref='/late/'>", "http://h/late/x"},
	} {
		r := htmlPage(own, tt.body)
		if got, err := r.Join("x"); err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.body, got, err, tt.want)
		}
	}
	if _, err := htmlPage(own, "").Join("http://["); err == nil || !strings.Contains(err.Error(), "http://[") {
		t.Errorf("error of a bad link is %v", err)
	}
}

// slowLinks is Links without any short cut.
func slowLinks(t testing.TB, r *Response, f LinkFilter) []string {
	t.Helper()
	var urls []string
	for _, href := range r.Select(selector(t, "a[href]::attr(href), area[href]::attr(href)")).GetAll() {
		u, err := r.Join(strings.Trim(href, htmlSpace))
		if err != nil || !weburl.IsHTTP(u) {
			continue
		}
		u = weburl.StripFragment(u)
		if !slices.Contains(urls, u) && (!f.SameHost || weburl.Host(u) == weburl.Host(r.URL)) {
			urls = append(urls, u)
		}
	}
	return urls
}

func FuzzLinks(f *testing.F) {
	f.Add(linkPage, "http://h:8080/d/p.html")
	for _, body := range samplePages(f) {
		f.Add(body, "http://h/p.html")
	}
	f.Add(`<base href="//x/#f"><a href=""><a href="#a"><area href=" http://x/ "><svg><a href=u>`, "https://h/")
	f.Fuzz(func(t *testing.T, body, url string) {
		for _, filter := range []LinkFilter{{}, {SameHost: true}} {
			r := htmlPage(url, body)
			got, err := r.Links(filter)
			if err != nil {
				return
			}
			if want := slowLinks(t, htmlPage(url, body), filter); !slices.Equal(got, want) {
				t.Errorf("%q\ngot  %q\nwant %q", body, got, want)
			}
		}
	})
}

func TestPattern(t *testing.T) {
	t.Parallel()
	subjects := []string{"", "a.html", "a.html?x", "xhtml", "HTML", "http://h/a.html", "a\n", "a", "\\.html", "café"}
	for _, expr := range []string{`\.html$`, `html`, `^http`, `^a$`, ``, `$`, `^`, `(?i)html`, `a|b`, `\.html\z`, `(?m)a$`, `é`, `\Qa.\E`, `[a]`, `(html)`, `a.html`} {
		p := patterns(t, expr)[0]
		for _, s := range subjects {
			if got, want := p.Match(s), regexp.MustCompile(expr).MatchString(s); got != want {
				t.Errorf("%q on %q: %v, regexp says %v", expr, s, got, want)
			}
		}
	}
	if p := patterns(t, `\.html$`)[0]; p.re != nil {
		t.Error(`\.html$ goes through a regular expression`)
	}
	if _, err := CompilePattern(`a(`); err == nil || !strings.Contains(err.Error(), `"a("`) {
		t.Errorf("error is %v", err)
	}
}

func TestReleasedResponse(t *testing.T) {
	t.Parallel()
	freed := 0
	r := htmlPage("http://h/", "<a href=/x>x</a>")
	r.free = func() { freed++ }
	text := r.Text()
	links, _ := r.Links(LinkFilter{})
	clear(r.Body) // as a pool would
	r.Release()
	r.Release()
	if freed != 1 || !r.Released() {
		t.Errorf("given back %d times", freed)
	}
	if text != "<a href=/x>x</a>" || links[0] != "http://h/x" {
		t.Errorf("strings died with the body: %q %q", text, links)
	}
	if r.Text() != "" || r.Select(selector(t, "a")).Len() != 0 {
		t.Error("a dead response has something")
	}
}

func BenchmarkPage(b *testing.B) {
	body, err := os.ReadFile(filepath.Join("testdata", "pages", "python.html"))
	if err != nil {
		b.Fatal(err)
	}
	filter := LinkFilter{Allow: patterns(b, `\.html$`), SameHost: true}
	title, h1, a := selector(b, "title"), selector(b, "h1"), selector(b, "a[href]")
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			parseDocument(string(body))
		}
	})
	b.Run("select", func(b *testing.B) {
		r := htmlPage("http://h/p.html", string(body))
		r.document()
		for b.Loop() {
			_, _, _ = r.Select(title).Text(), r.Select(h1).Text(), r.Select(a).Len()
		}
	})
	b.Run("links", func(b *testing.B) {
		r := htmlPage("http://h/p.html", string(body))
		r.document()
		for b.Loop() {
			if _, err := r.Links(filter); err != nil {
				b.Fatal(err)
			}
		}
	})
}
