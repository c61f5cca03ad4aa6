package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// deepPages nest more than the parser takes; each has 700 marks and as many links.
func deepPages() map[string]string {
	const n = 700
	pages := map[string]string{}
	build := func(name, open, unit, end string) {
		var b strings.Builder
		b.WriteString("<title>deep</title>" + open)
		for i := range n {
			fmt.Fprintf(&b, unit, i)
		}
		b.WriteString(strings.Repeat(end, n) + "<p id=last>end</p>")
		pages[name] = b.String()
	}
	build("unclosed font", "", "<font color=c%[1]d><a href=/%[1]d><i class=m>x</i></a>", "")
	build("unclosed font in paragraphs", "", "<p><font color=c%[1]d><a href=/%[1]d><i class=m>x</i></a></p>", "")
	build("unclosed div", "", "<div><a href=/%[1]d><i class=m>x</i></a>", "")
	build("nested div", "", "<div><a href=/%[1]d><i class=m>x</i></a>", "</div>")
	build("unclosed a", "", "<a href=/%[1]d><div><i class=m>x</i>", "")
	build("nested tables", "", "<table><tr><td><a href=/%[1]d><i class=m>x</i></a>", "</td></tr></table>")
	build("nested lists", "", "<ul><li><a href=/%[1]d><i class=m>x</i></a>", "</ul>")
	build("mixed formatting", "", "<b><i><u><em><a href=/%[1]d><i class=m>x</i></a></b>", "")
	build("foreign", "<svg>", "<g><a href=/%[1]d><i class=m>x</i></a>", "</g>")
	build("nested svg", "", "<svg><foreignObject><div><a href=/%[1]d><i class=m>x</i></a>", "")
	build("noscript", "<body>", "<noscript><div><a href=/%[1]d><i class=m>x</i></a>", "")
	return pages
}

func TestDeepPagesAreKept(t *testing.T) {
	t.Parallel()
	for name, body := range deepPages() {
		if _, err := parseHTML(body); err == nil {
			t.Errorf("%s: is not too deep for the parser", name)
		}
		r := htmlPage("http://h/", body)
		if n := r.Select(selector(t, ".m")).Len(); n < 700 {
			t.Errorf("%s: %d of 700 elements", name, n)
		}
		urls, err := r.Links(LinkFilter{})
		if err != nil || len(urls) != 700 {
			t.Errorf("%s: %d of 700 links, %v", name, len(urls), err)
		}
		if got := r.Select(selector(t, "#last")).Text(); got != "end" {
			t.Errorf("%s: the last element has %q", name, got)
		}
		if got := r.Select(selector(t, "title")).Text(); got != "deep" {
			t.Errorf("%s: title %q", name, got)
		}
	}
}

func TestFlattenKeepsShallowPages(t *testing.T) {
	t.Parallel()
	for name, body := range samplePages(t) {
		want, err := parseHTML(body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseHTML(string(flatten([]byte(body), 128)))
		if err != nil || outerHTML(got) != outerHTML(want) {
			t.Errorf("%s: another tree, %v", name, err)
		}
	}
}

func TestFlattenPastTheLimitOnly(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("<div>", 600) + "<p>deep</p>" + strings.Repeat("</div>", 600) + "<section><p>after</p></section>"
	r := htmlPage("http://h/", body)
	if got := r.Select(selector(t, "body > section > p")).Text(); got != "after" {
		t.Errorf("what follows is not where it was: %q", got)
	}
	if n := r.Select(selector(t, "div")).Len(); n != 600 {
		t.Errorf("%d of 600 elements", n)
	}
}

// TestFlattenBoundsItsOutput counts what flatten writes for pages that are made to be slow, which bounds what the parser does.
func TestFlattenBoundsItsOutput(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		strings.Repeat("<i>", 5_000) + strings.Repeat("</b>", 5_000),
		"<i><table><td>" + strings.Repeat("<b>", 5_000) + strings.Repeat("</i>", 5_000),
		strings.Repeat("<a><p>", 5_000) + strings.Repeat("</a></p>", 5_000),
	} {
		if n := len(flatten([]byte(body), 128)); n > 3*len(body) {
			t.Errorf("%.20q...: %d bytes became %d", body, len(body), n)
		}
	}
}

func TestBadMarkupNeverFails(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "<", "\x00\x00", "</p>", "<p", "<!doctype", "<table><p><tr>x", "<svg><p><math>", "<select><table>", "<plaintext><b>",
		"<frameset><frame></frameset>", "<template><tr><td>x", strings.Repeat("<table>", 700), strings.Repeat("<svg>", 700),
		strings.Repeat("<template>", 700), strings.Repeat("<math><mi>", 700), strings.Repeat("<select>", 700), "<noscript><p>x",
	} {
		if d := parseDocument(body); d.root == nil || d.root.Type != html.DocumentNode {
			t.Errorf("%.20q: no tree", body)
		}
	}
}

func TestNoscriptIsMarkup(t *testing.T) {
	t.Parallel()
	r := htmlPage("http://h/", "<body><noscript><a href=/plain>x</a></noscript>")
	if got, _ := r.Select(selector(t, "noscript a::attr(href)")).Get(); got != "/plain" {
		t.Errorf("a link for those without JavaScript: %q", got)
	}
}

func FuzzParseDocument(f *testing.F) {
	for _, body := range samplePages(f) {
		f.Add([]byte(body))
	}
	f.Add([]byte(strings.Repeat("<b><p>", 300)))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := parseDocument(string(body))
		if d.root == nil {
			t.Fatal("no tree")
		}
		for _, depth := range []int{128, 8} {
			flat := flatten(body, depth)
			root, err := parseHTML(string(flat))
			if err != nil {
				continue
			}
			// No element with content of its own may be lost.
			for _, tag := range []string{"a", "article"} {
				if bytes.Count(body, []byte("<")) > 100 {
					break
				}
				s, _ := parseSimple(tag)
				if a, b := len(s.find(nil, d.root, 0)), len(s.find(nil, root, 0)); depth == 128 && a > 0 && b == 0 {
					t.Errorf("%d <%s> became none", a, tag)
				}
			}
		}
	})
}
