// Package feed is a stand-in of the news site that examples/hotnews-mysql crawls: made-up stories in a JSON feed that is paged by time.
package feed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const (
	pageSize = 10
	newest   = 1767600000 // the time of the newest story; each further one is a minute older
)

// article is a story as the feed has it.
type article struct {
	Title     string `json:"title"`
	Abstract  string `json:"abstract"`
	Source    string `json:"source"`
	SourceURL string `json:"source_url"`
	Comments  int    `json:"comments_count"`
	Time      int64  `json:"behot_time"`
}

// page is a page of the feed.
type page struct {
	Data    []article `json:"data"`
	HasMore bool      `json:"has_more"`
	Next    struct {
		MaxBehotTime int64 `json:"max_behot_time"`
	} `json:"next"`
}

// Handler answers /api/feed?category=news_NAME&max_behot_time=SECONDS with the stories that are older, ten at a time; 0 means the newest.
// Each category has as many stories as it is given. It answers only those who send the headers and the cookie of its page's script.
func Handler(stories int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/feed", func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie("tt_webid"); err != nil || cookie.Value == "" || r.Header.Get("Accept") != "application/json" {
			http.Error(w, "this is for the page's script", http.StatusForbidden)
			return
		}
		before, err := strconv.ParseInt(r.FormValue("max_behot_time"), 10, 64)
		category, ok := strings.CutPrefix(r.FormValue("category"), "news_")
		if err != nil || !ok {
			http.Error(w, "category: news_NAME; max_behot_time: a Unix time, or 0", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		json.NewEncoder(w).Encode(pageOf(category, before, stories))
	})
	return mux
}

func pageOf(category string, before int64, stories int) page {
	first := 0
	if before != 0 {
		first = max(0, int((newest-before)/60)+1)
	}
	last := min(first+pageSize, stories)
	p := page{Data: []article{}, HasMore: last < stories}
	for i := first; i < last; i++ {
		p.Data = append(p.Data, story(category, i))
		p.Next.MaxBehotTime = p.Data[len(p.Data)-1].Time
	}
	return p
}

// story is the i-th newest of a category. Every twenty-fifth is an advertisement.
func story(category string, i int) article {
	a := article{
		Title: fmt.Sprintf("It's the %s news, no. %d 📰", category, i), Abstract: fmt.Sprintf("What happened %d minutes ago, \"as it was told\".", i),
		Source: "Ostwick Echo", SourceURL: fmt.Sprintf("/story/%s-%d", category, i), Comments: i * 7 % 300, Time: newest - int64(i)*60,
	}
	if i%25 == 24 {
		a.Source = "Advertisement"
	}
	return a
}
