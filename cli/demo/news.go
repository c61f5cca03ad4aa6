package demo

import (
	_ "embed" // the stories and the templates are in the binary
	"encoding/json"
	"html/template"
	"slices"
	"time"
)

//go:embed stories.json
var storiesJSON []byte

//go:embed page.html
var pagesHTML string

var pages = template.Must(template.New("pages").Parse(pagesHTML))

// gone is the path of a story that a list links to and that the site no longer has.
const gone = "withdrawn"

// newest is when the first story was published; each further one is 17 minutes older.
var newest = time.Date(2026, time.January, 5, 8, 0, 0, 0, time.UTC)

var places = []string{"Ostwick", "Lowmere", "Tarn", "Karrow"}

// story is one made-up piece of news.
type story struct {
	ID       int64  `json:"id"` // 19 digits, as news feeds have them
	Hot      bool   `json:"hot"`
	Section  string `json:"section"`
	Title    string `json:"title"`
	Abstract string `json:"abstract"`
	Source   string `json:"source"`
	Comments int    `json:"comments"`

	Time  time.Time `json:"-"`
	Place string    `json:"-"`
}

// Published is the story's time as its page shows it.
func (s story) Published() string { return s.Time.Format(time.RFC3339) }

// news are all stories, the newest first.
type news []story

func loadNews() (news, error) {
	var n news
	if err := json.Unmarshal(storiesJSON, &n); err != nil {
		return nil, err
	}
	for i := range n {
		n[i].Time = newest.Add(-time.Duration(i) * 17 * time.Minute)
		n[i].Place = places[i%len(places)]
	}
	return n, nil
}

// hot are the stories of the feed that are not newer than a Unix time; 0 means all.
func (n news) hot(before int64) news {
	var hot news
	for _, s := range n {
		if s.Hot && (before == 0 || s.Time.Unix() <= before) {
			hot = append(hot, s)
		}
	}
	return hot
}

// section are the stories of a section that are not in the feed.
func (n news) section(name string) news {
	var list news
	for _, s := range n {
		if !s.Hot && s.Section == name {
			list = append(list, s)
		}
	}
	return list
}

func (n news) sections() []string {
	var names []string
	for _, s := range n {
		if !slices.Contains(names, s.Section) {
			names = append(names, s.Section)
		}
	}
	return names
}

func (n news) find(id int64) (story, bool) {
	i := slices.IndexFunc(n, func(s story) bool { return s.ID == id })
	if i < 0 {
		return story{}, false
	}
	return n[i], true
}
