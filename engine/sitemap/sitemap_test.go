package sitemap

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// show is a sitemap as text, an entry a word.
func show(s *Sitemap) string {
	var words []string
	for _, e := range s.Pages {
		words = append(words, strings.Join(append([]string{e.Loc}, e.Alternates...), ",")+"@"+e.LastMod)
	}
	for _, e := range s.Sitemaps {
		words = append(words, "+"+e.Loc+"@"+e.LastMod)
	}
	return strings.Join(words, " ")
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const plain = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url><loc> http://a.test/1?x=1&amp;y=2 </loc><lastmod>2025-12-03</lastmod><changefreq>daily</changefreq></url>
  <url>
    <image:image><image:loc>http://a.test/picture.png</image:loc></image:image>
    <loc><![CDATA[http://a.test/2]]></loc>
    <xhtml:link rel="alternate" hreflang="de" href="http://a.test/de/2"/><xhtml:link rel="canonical" href="http://a.test/no"/>
  </url>
  <url><lastmod>2025</lastmod></url>
</urlset>`

func TestParse(t *testing.T) {
	t.Parallel()
	const entries = "http://a.test/1?x=1&y=2@2025-12-03 http://a.test/2,http://a.test/de/2@"
	for _, c := range []struct{ name, body, want string }{
		{"urlset", plain, entries},
		{"byte order mark", "\xef\xbb\xbf" + plain, entries},
		{"gzip", string(zipped(t, plain)), entries},
		{"index", `<sitemapindex><sitemap><loc>http://a.test/s.xml.gz</loc><lastmod>2025-12-03T01:02:03Z</lastmod></sitemap></sitemapindex>`, "+http://a.test/s.xml.gz@2025-12-03T01:02:03Z"},
		{"prefix", `<s:urlset xmlns:s="x"><s:url><s:loc>http://a.test/</s:loc></s:url></s:urlset>`, "http://a.test/@"},
		{"latin 1", "<?xml version='1.0' encoding='iso-8859-1'?><urlset><url><loc>http://a.test/caf\xe9</loc></url></urlset>", "http://a.test/café@"},
		{"no root", `<url><loc>http://a.test/</loc></url>`, "http://a.test/@"},
		{"entities of HTML and unknown ones", `<urlset><url><loc>http://a.test/&eacute;&none;&</loc></url></urlset>`, "http://a.test/é&none;&@"},
		{"empty", `<urlset></urlset>`, ""},
		{"empty in one tag", `<sitemapindex/>`, ""},
		{"a comment in a loc", `<urlset><url><loc>http://a.test/<!-- x -->1</loc></url></urlset>`, "http://a.test/1@"},
	} {
		s, err := Parse(t.Context(), []byte(c.body))
		if err != nil || s.Cut != nil {
			t.Errorf("%s: %v, %+v", c.name, err, s)
			continue
		}
		if got := show(s); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNoSitemap(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "hello", "<html><p>404", "{}", "\x1f\x8bnot gzip", "\x1f\x8b", "<rss><item><loc>x</loc></item></rss>", "\x00\xff\xfe", "<urlset"} {
		if s, err := Parse(t.Context(), []byte(body)); err == nil || !strings.HasPrefix(err.Error(), "no sitemap") {
			t.Errorf("%q: %+v, %v", body, s, err)
		}
	}
}

// TestHostileSitemaps: what is damaged or without measure gives what came before it, within bounded memory.
func TestHostileSitemaps(t *testing.T) {
	const most = 4 << 20 // MaxSize would take seconds
	const first, entry = `<urlset><url><loc>http://a.test/first</loc></url>`, `<url><loc>http://a.test/x</loc></url>`
	bomb := `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa">` // each ten times the one before
	for c := byte('b'); c <= 'k'; c++ {
		bomb += fmt.Sprintf(`<!ENTITY %c "%s">`, c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	for _, c := range []struct {
		name string
		body []byte
		cut  string // "" for one that is read to its end
		n    int
	}{
		{"cut off", []byte(first + `<url><loc>http://a.te`), "unexpected EOF", 1},
		{"gzip cut off", zipped(t, first+strings.Repeat(entry, 1000))[:100], "unexpected EOF", -1},
		{"garbage inside", []byte(first + "<\x00\x01\xff>" + entry), "XML syntax error", 1},
		{"one tag of 3 MB", []byte(first + "<a " + strings.Repeat(`b="" `, 600_000) + ">"), "1024 KB", 1},
		{"one text of 3 MB", []byte(first + strings.Repeat("x", 3<<20) + entry), "1024 KB", 1},
		{"a comment of 3 MB", []byte(first + "<!--" + strings.Repeat("x", 3<<20) + "-->" + entry), "1024 KB", 1},
		{"never closed", []byte(first + strings.Repeat("<a>", 1<<20)), "unexpected EOF", 1},
		{"cut off between entries", []byte(first), "unexpected EOF", 1},
		{"a second root, cut off", []byte(first + `</urlset><urlset>` + entry), "unexpected EOF", 2},
		{"more after the end", []byte(first + `</urlset><!-- made by x --><p>x`), "", 1},
		{"as many entries as there may be", []byte(first + strings.Repeat(entry, MaxEntries-1) + `</urlset>`), "", MaxEntries},
		{"one more", []byte(first + strings.Repeat(entry, MaxEntries) + `</urlset>`), "50000 entries", MaxEntries},
		{"5 MB", []byte(first + strings.Repeat("<a></a>", 5<<20/7)), "4 MB", 1},
		{"gzip of 60 MB", zipped(t, first+strings.Repeat("<a></a>", 60<<20/7)), "4 MB", 1},
		{"too many entries", []byte(first + strings.Repeat(entry, 60_000)), "50000 entries", MaxEntries},
		{"entities", []byte(bomb + `]>` + first + `<url><loc>http://a.test/&k;</loc></url></urlset>`), "", 2},
		{"an entity of a file", []byte(`<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>` + first + `<url><loc>http://a.test/&f;</loc></url></urlset>`), "", 2},
		{"a URL of 1 MB", []byte(first + `<url><loc>http://a.test/` + strings.Repeat("x", 1<<20-100) + `</loc></url></urlset>`), "", 1},
		{"alternates", []byte(first + `<url><loc>http://a.test/x</loc>` + strings.Repeat(`<link rel="alternate" href="http://a.test/y"/>`, 50_000) + `</url></urlset>`), "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			s, err := parse(t.Context(), c.body, most)
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if n := len(s.Pages); c.n >= 0 && n != c.n || s.Pages[0].Loc != "http://a.test/first" {
				t.Errorf("%d entries, want %d", n, c.n)
			}
			if cut := fmt.Sprint(s.Cut); c.cut == "" && s.Cut != nil || !strings.Contains(cut, c.cut) {
				t.Errorf("cut is %v, want %q", s.Cut, c.cut)
			}
			for _, e := range s.Pages {
				if len(e.Loc) > maxText || len(e.Alternates) > maxOthers || strings.Contains(e.Loc, "aaa") || strings.Contains(e.Loc, "root:") {
					t.Errorf("an entry of %d bytes and %d alternates: %.100q", len(e.Loc), len(e.Alternates), e.Loc)
				}
			}
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
				t.Errorf("it holds %d MB", grown>>20)
			}
			runtime.KeepAlive(s)
		})
	}
}

// What ends before its first entry is no empty sitemap.
func TestSitemapsCutOffAtTheirBeginning(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`<urlset>`, `<sitemapindex xmlns="x">`, `<urlset><url>`, `<urlset><url><loc>http://a.te`, `<urlset></sitemap>`, "<urlset>\x00", string(zipped(t, "<urlset>"))} {
		if s, err := Parse(t.Context(), []byte(body)); err != nil || s.Cut == nil || show(s) != "" {
			t.Errorf("%q: %+v, %v", body, s, err)
		}
	}
}

func TestParseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := Parse(ctx, []byte(plain)); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", s, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(plain))
	f.Add(zipped(f, plain))
	f.Add([]byte(`<sitemapindex><sitemap><loc>x</loc></url></sitemap><url><a><b></loc><loc>y`))
	f.Add([]byte(`<?xml version="1.0" encoding="utf-16"?><urlset>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := Parse(t.Context(), body)
		if err != nil {
			return
		}
		for _, e := range slices.Concat(s.Pages, s.Sitemaps) {
			if e.Loc == "" || len(e.Loc) > maxText {
				t.Errorf("an entry with a URL of %d bytes", len(e.Loc))
			}
		}
	})
}
