package engine

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// htmlPage is an HTML response as a downloader would hand it over.
func htmlPage(url, body string) *Response {
	return &Response{URL: url, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
}

func selector(t testing.TB, css string) *Selector {
	t.Helper()
	s, err := CompileSelector(css)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// samplePages are real pages, by file name.
func samplePages(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/pages/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal("no pages in testdata/pages", err)
	}
	pages := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(f)] = string(b)
	}
	return pages
}
