package fetch

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatHeaderIsSent(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			io.WriteString(w, name+"="+strings.Join(r.Header[name], ",")+"\n")
		}
	})
	host := strings.TrimPrefix(s.URL, "http://")
	cfg := Config{UserAgent: "ua", Header: http.Header{"Accept": {"text/*"}, "Accept-Language": {"de"}}, Auth: BasicAuth{User: "me", Password: "p:w", Domain: "127.0.0.1"}}
	other := cfg
	other.Auth.Domain = "example"
	none := Config{UserAgent: "ua"}
	const mine, urls = "Authorization=Basic bWU6cDp3\n", "Authorization=Basic dTpw\n"
	for _, c := range []struct {
		name   string
		cfg    Config
		url    string
		header http.Header
		want   string
	}{
		{"bare", none, s.URL, nil, "Accept=" + defaultAccept + "\nAccept-Encoding=gzip, deflate\nUser-Agent=ua\n"},
		{"defaults", other, s.URL, nil, "Accept=text/*\nAccept-Encoding=gzip, deflate\nAccept-Language=de\nUser-Agent=ua\n"},
		{"the request's own win", other, s.URL, http.Header{"Accept-Language": {"fr"}, "User-Agent": {"x"}}, "Accept=text/*\nAccept-Encoding=gzip, deflate\nAccept-Language=fr\nUser-Agent=x\n"},
		{"the domain's user", cfg, s.URL, nil, "Accept=text/*\nAccept-Encoding=gzip, deflate\nAccept-Language=de\n" + mine + "User-Agent=ua\n"},
		{"the URL's user", cfg, "http://u:p@" + host, nil, "Accept=text/*\nAccept-Encoding=gzip, deflate\nAccept-Language=de\n" + urls + "User-Agent=ua\n"},
		{"the request's Authorization", cfg, "http://u:p@" + host, http.Header{"Authorization": {"x"}}, "Accept=text/*\nAccept-Encoding=gzip, deflate\nAccept-Language=de\nAuthorization=x\nUser-Agent=ua\n"},
		{"a proxy's password stays here", none, s.URL, http.Header{"Proxy-Authorization": {"x"}}, "Accept=" + defaultAccept + "\nAccept-Encoding=gzip, deflate\nUser-Agent=ua\n"},
	} {
		d := newDownloader(t, c.cfg)
		for range 2 { // the second finds the defaults unchanged
			res, err := d.Fetch(t.Context(), &Request{URL: c.url, Header: c.header})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if diff := cmp.Diff(c.want, string(res.Body)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
			res.Release()
		}
	}
}

func TestBasicAuthIsForItsDomain(t *testing.T) {
	t.Parallel()
	a := BasicAuth{User: "me", Domain: "news.example"}
	for host, want := range map[string]bool{
		"news.example": true, "www.news.example": true, "NEWS.example.": true, "fakenews.example": false, "news.example.evil.example": false, "example": false, "": false,
	} {
		if got := a.isFor(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
	if (BasicAuth{User: "me"}).isFor("news.example") {
		t.Error("without a domain it is for all")
	}
}
