package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// diffTrees returns the path to the first place where two trees differ, or "".
func diffTrees(got, want *html.Node) string {
	path := want.Data
	switch {
	case got.Type != want.Type, got.DataAtom != want.DataAtom, got.Data != want.Data, got.Namespace != want.Namespace:
		return path + ": " + got.Data
	case len(got.Attr) != len(want.Attr):
		return path + ": attributes"
	}
	for i := range got.Attr {
		if got.Attr[i] != want.Attr[i] {
			return path + ": attribute " + want.Attr[i].Key + "=" + want.Attr[i].Val + ", got " + got.Attr[i].Key + "=" + got.Attr[i].Val
		}
	}
	a, b := got.FirstChild, want.FirstChild
	for ; a != nil && b != nil; a, b = a.NextSibling, b.NextSibling {
		if a.Parent != got || b.Parent != want {
			return path + ": parent"
		}
		if d := diffTrees(a, b); d != "" {
			return path + "/" + d
		}
	}
	if a != nil || b != nil {
		return path + ": number of children"
	}
	return ""
}

// checkGrown compares growDocument with the html package, if it takes the page.
func checkGrown(t testing.TB, name, body string) (taken bool) {
	t.Helper()
	mem := &arena{}
	got, ok := growDocument(body, mem)
	if !ok {
		return false
	}
	want, err := parseHTML(body)
	if err != nil {
		t.Errorf("%s: taken, but the html package says %v", name, err)
	} else if d := diffTrees(got, want); d != "" {
		t.Errorf("%s: trees differ at %s", name, d)
	}
	return true
}

func inPage(body string) string {
	return "<!DOCTYPE html>\n<html lang=en>\n<head><title>a &amp; b</title>\n</head>\n<body>" + body + "</body>\n</html>\n"
}

// shortBodies leave out tags that may be.
var shortBodies = []string{
	"<ul><li>a<li>b</ul>", "<table><td>x</td></table>", "<dl><dt>a<dd>b</dl>", "<table><tr><td>x</table>", "<p>a<p>b", "<p>a<div>b</div>", "x</p>y",
	"<table><tr><td>a<td>b<tr><th>c<tbody><tr><td><p>d</table>", "<table><colgroup><col><tr><td>x</table>", "<select><option>a<option>b</select>",
	"<select><optgroup><option>a<option>b<optgroup><option>c</select>", "<div><p>a</div>", "<ul><li><p>a<li><p>b<ul><li>c</ul></ul>",
	"<table><td>a<table><td>b</table></table>", "<h1><p>x</h1>", "<form><p>x</form>", "<svg viewBox='0 0 1 1' xmlns=x xlink:href=y><title>t</title><g><path d='M0'/></g></svg>",
	"<p><svg/>x</p>", "<p>a<table><tr><td>x</td></tr></table>", "<td>", "<dl><dt><p>a<dd><p>b<dt>c</dl>",
}

// growable are bodies that growDocument should take.
var growable = []string{
	"", "text", "<p>a</p>\n<p>b</p>", "<div><p>a</p><ul><li>x</li><li><a href='/a?b=1&amp;c=2'>y</a></li></ul></div>",
	"<a href=/x?a=1&b=2>x</a>", "<A HREF=\"X\" class=z id=y Data-Q>x</A>", "<br><br/><img src=a /><hr>", "<!-- c & d --><p>x</p>",
	"<table><tr><td>a</td><th>b</th></tr><tr></tr></table>", "<table><thead><tr></tr></thead><tbody>\n<tr><td><table><tr><td>x</td></tr></table></td></tr></tbody></table>",
	"<table><caption>c</caption><colgroup><col><col></colgroup><tr><td>x</td></tr><tbody><tr></tr></tbody></table>",
	"<dl><dt>a</dt><dd>b<dl><dt>c</dt></dl></dd></dl>", "<script>if (a < b && c) {'</scr'}</script><style>a>b{}</style>",
	"<textarea>\n&lt;x</textarea><pre>\nx</pre><pre>\n\ny</pre>", "<pre>&#13;\nx</pre>", "<custom-tag a:b=1>x</custom-tag>", "<noscript><img src=x></noscript>",
	"<b><i><code class=z a=b>x</code></i></b>", "<b><b><b><b><b>x</b></b></b></b></b>y", "<select><option>a</option><optgroup><option>b</option></optgroup></select>",
	"<button>x</button><button>y</button>", "<form><input name=a></form><form></form>", "<h1>a <small>b</small></h1><h2>c</h2>",
	"<object><a href=x>y</a></object>", "&eacute;&nbsp;&#39;&unknown; &amp", "a > b", "<p>x</p>\r\n<p a='1\r\n2'>y\rz</p>",
	"<iframe src=x><p></iframe><noembed><b></noembed>", "<title>again</title><link rel=x>", "<ul>\n<li>a<ul>\n<li>b</li></ul></li></ul>",
	"<div a=1 a=2 A=3>x</div>", "<ruby>a<rt>b</rt></ruby>", "<label><input></label><audio><source src=x></audio>",
}

// refusedBodies are bodies whose tree is not what their tags say.
var refusedBodies = []string{
	"<b><p>x</b>", "<li><b><li>x", "<p><b>x<p>y", "<svg><p></svg>", "<svg><title><b></title></svg>", "<svg foo=1></svg>", "<b><i>x</b>y</i>", "<a>x<a>y</a></a>", "<table>x<tr><td></td></tr></table>",
	"</br>", "<svg><a/></svg>", "<svg><linearGradient></svg>", "<math></math>", "<template><p></p></template>", "<h1><h2>x</h2></h1>",
	"<button><button></button></button>", "<form><form></form></form>", "<select><select></select></select>", "<frameset></frameset>", "<image>",
	"<plaintext>", "a < b", "<div><span></div></span>", "<nobr><nobr></nobr></nobr>",
	"<table><form></form></table>", "<!--> x -->", "<!-- a --!> b -->", "<script><!-- </script> --></script>",
	"<? x ?>", "<!x>", "<a href=?x&copy=1>y</a>", "<a href='?x&notit'>y</a>", "<div a='", "<div =x></div>", "<col>", "<tr></tr>", "<body>", "<head>", "\x00",
	"<table><tr><tr></tr></tr></table>", "<input><select><input></select>", "</body><p>x</p>", "<a b='c'd>x</a>", "<title>x", "<div>unclosed",
}

func TestGrowDocument(t *testing.T) {
	t.Parallel()
	for _, body := range growable {
		if !checkGrown(t, body, inPage(body)) {
			t.Errorf("%s: is not taken", body)
		}
	}
	for _, body := range shortBodies {
		checkGrown(t, body, inPage(body))
		if n := strings.ReplaceAll(inPage(body), "<!DOCTYPE html>", "<!DOCTYPE HTML>"); !checkGrown(t, n, n) && body != "<td>" {
			t.Errorf("%s: is not taken", body)
		}
	}
	for _, body := range refusedBodies {
		if checkGrown(t, body, inPage(body)) {
			t.Errorf("%s: is taken", body)
		}
	}
	for name, body := range samplePages(t) {
		if !checkGrown(t, name, body) {
			t.Errorf("%s: is not taken", name)
		}
	}
}

func TestGrowDocumentOutline(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"<html><head></head><body></body></html>": true,
		"<!doctype html><!-- a --><html><!-- b --><head></head> <!-- c --> <body>x</body> <!-- d --></html><!-- e -->": true,
		"<!-- a --><!DOCTYPE HTML><html><head></head><body>":                                                           false,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x.dtd"><html><head></head><body></body></html>`:            true,
		"<html><head><p></head><body></body></html>":                                                                   false,
		"<html><head>x</head><body></body></html>":                                                                     false,
		"<html><head></head>x<body></body></html>":                                                                     false,
		"<html><head></head><body></body></html>x":                                                                     false,
		"<html><head></head><body></body></html>\n<p>":                                                                 false,
		"<head></head><body></body>":                                                                                   false,
		"<html><body></body></html>":                                                                                   false,
		"<html><head></head>":                                                                                          false,
		"plain":                                                                                                        false,
		"":                                                                                                             false,
		"<html><head></head><body>" + strings.Repeat("<div>", 600):                                                     false,
	} {
		if got := checkGrown(t, body, body); got != want {
			t.Errorf("%.80s: taken is %v", body, got)
		}
	}
}

func TestArenaIsCleanForTheNextPage(t *testing.T) {
	t.Parallel()
	mem := &arena{}
	for _, body := range []string{inPage(strings.Repeat("<p id=a>x</p>", 500)), inPage("<p>y</p>")} {
		got, ok := growDocument(body, mem)
		want, err := parseHTML(body)
		if !ok || err != nil || diffTrees(got, want) != "" {
			t.Fatalf("%v %v %s", ok, err, diffTrees(got, want))
		}
		used := mem.used
		mem.reset()
		for i := range used {
			if n := mem.chunks[i/arenaChunk][i%arenaChunk]; n.Data != "" || n.Attr != nil || n.Parent != nil || n.FirstChild != nil || n.LastChild != nil ||
				n.NextSibling != nil || n.PrevSibling != nil || n.Type != 0 || n.DataAtom != 0 {
				t.Fatalf("node %d is not empty", i)
			}
		}
	}
}

func FuzzGrowDocument(f *testing.F) {
	for _, body := range slices.Concat(growable, shortBodies, refusedBodies) {
		f.Add(inPage(body))
	}
	f.Add("<!-- a --><html><!-- b --><head><base href=x></head> <!-- c --> <body>x</body> <!-- d --></html><!-- e -->")
	for _, body := range samplePages(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) { checkGrown(t, "fuzzed", body) })
}

// FuzzGrowBody spends its time inside of the body.
func FuzzGrowBody(f *testing.F) {
	for _, body := range slices.Concat(growable, shortBodies, refusedBodies) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) { checkGrown(t, body, inPage(body)) })
}

// tagSoup makes pages of tags in any order. Half of its end tags are the right ones, so that some pages are good.
func tagSoup(rnd *rand.Rand) string {
	names := strings.Fields("p div ul li dl dd dt a b i code span table tbody thead tr td th caption colgroup h1 h2 pre form button select option " +
		"optgroup svg g title section ruby rt object nobr noscript label x-y textarea")
	voids := []string{"<br>", "<img>", "<input>", "<hr>", "<col>", "<!-- c -->", "\n", "t", " ", "<path/>", "<script>1</script>", "&amp;", "<style></style>"}
	var b strings.Builder
	var open []string
	for range 2 + rnd.IntN(14) {
		switch n := rnd.IntN(10); {
		case n < 4:
			name := names[rnd.IntN(len(names))]
			open = append(open, name)
			b.WriteString("<" + name + ">")
		case n < 5:
			b.WriteString("</" + names[rnd.IntN(len(names))] + ">")
		case n < 8 && len(open) > 0:
			b.WriteString("</" + open[len(open)-1] + ">")
			open = open[:len(open)-1]
		default:
			b.WriteString(voids[rnd.IntN(len(voids))])
		}
	}
	if rnd.IntN(3) > 0 {
		for i := len(open) - 1; i >= 0; i-- {
			b.WriteString("</" + open[i] + ">")
		}
	}
	return b.String()
}

func TestGrowTagSoup(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	taken := 0
	const rounds = 10_000
	for range rounds {
		body := inPage(tagSoup(rnd))
		if rnd.IntN(2) == 0 {
			body = strings.TrimPrefix(body, "<!DOCTYPE html>\n")
		}
		if checkGrown(t, body, body) {
			taken++
		}
		if t.Failed() {
			break
		}
	}
	if taken < rounds/20 {
		t.Errorf("only %d of %d pages were taken: too few to say much", taken, rounds)
	}
}
