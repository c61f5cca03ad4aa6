package engine

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"luacrawl/scheduler/weburl"
)

// TestQueryInThePagesCharset: what WHATWG URL makes of such links, and Scrapy's follow of most of them.
func TestQueryInThePagesCharset(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ charset, href, want string }{
		{"gbk", "/北?q=北京&p=1#京", "http://h/%E5%8C%97?q=%B1%B1%BE%A9&p=1#%E4%BA%AC"},
		{"gbk", "?q=%E5%8C%97&r=京", "http://h/p?q=%E5%8C%97&r=%BE%A9"},
		{"gbk", "?q=서", "http://h/p?q=%26%2349436%3B"},
		{"shift_jis", "?q=日本", "http://h/p?q=%93%FA%96{"},
		{"windows-1252", "?q=café €", "http://h/p?q=caf%E9%20%80"},
		{"iso-8859-1", "http://o/?é", "http://o/?%E9"},
		{"iso-2022-jp", "?q=日", "http://h/p?q=%1B$BF|%1B(B"},
		{"utf-8", "?q=北", "http://h/p?q=%E5%8C%97"},
		{"gbk", "/北#?京", "http://h/%E5%8C%97#?%E4%BA%AC"},
	} {
		body := encode(t, tt.charset, strings.ReplaceAll(`<a href="`+tt.href+`">x</a>`, "서", "&#49436;"))
		r := &Response{URL: "http://h/p", Body: body, Header: http.Header{"Content-Type": {"text/html; charset=" + tt.charset}}}
		if got, err := r.Join(tt.href); got != tt.want || err != nil {
			t.Errorf("%s: %s\ngot  %s, %v\nwant %s", tt.charset, tt.href, got, err, tt.want)
		}
		want := []string{weburl.StripFragment(tt.want)}
		if got, err := r.Links(LinkFilter{}); !slices.Equal(got, want) || err != nil {
			t.Errorf("links in %s\ngot  %s, %v\nwant %s", tt.charset, got, err, want)
		}
	}
}
