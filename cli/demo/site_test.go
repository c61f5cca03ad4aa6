package demo

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// get asks the site itself, without a network.
func get(t *testing.T, path, accept string) (int, string) {
	t.Helper()
	handler, err := Handler()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// The feed pages through every hot story; pages overlap by one.
func TestFeedPages(t *testing.T) {
	t.Parallel()
	seen := map[int64]int{}
	before, pages := int64(0), 0
	for more := true; more; pages++ {
		code, body := get(t, "/api/feed?max_behot_time="+strconv.FormatInt(before, 10), "application/json")
		var page feed
		if err := json.Unmarshal([]byte(body), &page); err != nil || code != http.StatusOK {
			t.Fatalf("%d %s: %v", code, body, err)
		}
		for _, e := range page.Data {
			seen[e.ID]++
		}
		before, more = page.Next.MaxBehotTime, page.HasMore
	}
	twice := 0
	for _, n := range seen {
		twice += n - 1
	}
	if len(seen) != 21 || twice != pages-1 {
		t.Errorf("%d stories on %d pages, %d of them twice", len(seen), pages, twice)
	}
}

func TestSiteRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path, accept string
		want         int
	}{
		{"/api/feed?max_behot_time=0", "text/html", http.StatusNotAcceptable},
		{"/api/feed", "application/json", http.StatusBadRequest},
		{"/section/nowhere", "", http.StatusNotFound},
		{"/section/city?page=99", "", http.StatusNotFound},
		{"/section/city?page=-1", "", http.StatusNotFound},
		{"/story/" + gone, "", http.StatusNotFound},
		{"/story/1", "", http.StatusNotFound},
		{"/elsewhere", "", http.StatusNotFound},
	} {
		if code, _ := get(t, test.path, test.accept); code != test.want {
			t.Errorf("%s: %d, want %d", test.path, code, test.want)
		}
	}
}

func TestServeAndClose(t *testing.T) {
	t.Parallel()
	site, err := Serve()
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Get(site.URL + "/section/science?page=2")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || !strings.Contains(string(body), "/story/"+gone) {
		t.Errorf("%s %v", body, err)
	}
	if err := site.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get(site.URL); err == nil {
		t.Error("the site still answers")
	}
}
