package export

import "time"

// feedState is what the journal keeps.
type feedState struct {
	Crawl   string     `json:"crawl"`
	Part    int        `json:"part"` // of the newest file
	Closed  bool       `json:"closed,omitempty"`
	File    *fileState `json:"file,omitempty"`
	Waiting []waiting  `json:"waiting,omitempty"`
	Columns []string   `json:"columns,omitempty"` // of the newest file, so that the next has the same
}

// fileState is the newest file, while it may still grow.
type fileState struct {
	Path    string    `json:"path"` // once it is whole
	Part    int       `json:"part"`
	Format  string    `json:"format"`
	Pack    string    `json:"pack,omitempty"`
	Columns []string  `json:"columns,omitempty"`
	Begun   time.Time `json:"begun"`
	Count   int       `json:"count"`  // items
	End     int64     `json:"end"`    // bytes of items, without Foot
	Member  member    `json:"member"` // at End
	Foot    int64     `json:"foot,omitempty"`
	Whole   bool      `json:"whole,omitempty"` // it has its name
}

func (s *fileState) part() string { return s.Path + ".part" }

// apply moves the file's state past a chunk.
func (s *fileState) apply(c chunk) {
	if c.Foot {
		s.Foot = c.Len
		return
	}
	s.End, s.Member = c.Start+c.Len, c.Member
	s.Count += c.Count
}
