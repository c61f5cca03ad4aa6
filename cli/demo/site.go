// Package demo is a small site of made-up news, bundled with the binary: something to crawl without a network.
//
// A JSON feed at /api/feed pages through the hot stories by max_behot_time, lists at /section/NAME page through older ones,
// and each story has a page at /story/ID. One linked story is missing, one of the feed is an advertisement, and
// pages of the feed overlap by a story, as real ones do.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	feedPage = 6 // stories on a page of the feed
	listPage = 3 // stories on a page of a list
)

// Site is the made-up site while it is served.
type Site struct {
	URL string // http://127.0.0.1:PORT, without a slash at the end

	server *http.Server
	ended  chan error
}

// Serve serves the site on a free port of the loopback address until Close.
func Serve() (*Site, error) {
	handler, err := Handler()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Site{
		URL:    "http://" + listener.Addr().String(),
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second},
		ended:  make(chan error, 1),
	}
	go func() { s.ended <- s.server.Serve(listener) }()
	return s, nil
}

// Close ends the site.
func (s *Site) Close() error {
	if err := s.server.Shutdown(context.Background()); err != nil {
		return err
	}
	if err := <-s.ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler is the site.
func Handler() (http.Handler, error) {
	n, err := loadNews()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { render(w, "front", n.sections()) })
	mux.HandleFunc("GET /api/feed", n.serveFeed)
	mux.HandleFunc("GET /section/{name}", n.serveSection)
	mux.HandleFunc("GET /story/{id}", n.serveStory)
	return mux, nil
}

// entry is a story as the feed has it.
type entry struct {
	ID        int64  `json:"item_id"`
	Title     string `json:"title"`
	Abstract  string `json:"abstract"`
	Source    string `json:"source"`
	SourceURL string `json:"source_url"`
	Comments  int    `json:"comments_count"`
	Time      int64  `json:"behot_time"`
}

// feed is a page of the feed.
type feed struct {
	Data    []entry `json:"data"`
	HasMore bool    `json:"has_more"`
	Next    struct {
		MaxBehotTime int64 `json:"max_behot_time"`
	} `json:"next"`
}

// serveFeed answers only those who ask for JSON, as feeds behind a page's script do.
func (n news) serveFeed(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Accept") != "application/json" {
		http.Error(w, "this is for scripts: send Accept: application/json", http.StatusNotAcceptable)
		return
	}
	before, err := strconv.ParseInt(r.FormValue("max_behot_time"), 10, 64)
	if err != nil {
		http.Error(w, "max_behot_time: a Unix time, or 0", http.StatusBadRequest)
		return
	}
	hot := n.hot(before)
	page := feed{HasMore: len(hot) > feedPage}
	for _, s := range hot[:min(len(hot), feedPage)] {
		page.Data = append(page.Data, entry{s.ID, s.Title, s.Abstract, s.Source, "/story/" + strconv.FormatInt(s.ID, 10), s.Comments, s.Time.Unix()})
		page.Next.MaxBehotTime = s.Time.Unix()
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	json.NewEncoder(w).Encode(page)
}

func (n news) serveSection(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	list := n.section(name)
	page, err := strconv.Atoi(r.FormValue("page"))
	if err != nil {
		page = 1
	}
	first := (page - 1) * listPage
	if page < 1 || first >= len(list) {
		http.NotFound(w, r)
		return
	}
	view := struct {
		Name, Gone string
		Stories    news
		Next       int
	}{Name: name, Stories: list[first:min(first+listPage, len(list))]}
	if first+listPage < len(list) {
		view.Next = page + 1
	} else if name == "science" {
		view.Gone = gone
	}
	render(w, "section", view)
}

func (n news) serveStory(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	s, ok := n.find(id)
	if err != nil || !ok {
		http.NotFound(w, r)
		return
	}
	render(w, "story", s)
}

// render writes a page whole, or an error.
func render(w http.ResponseWriter, name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	b.WriteTo(w)
}
