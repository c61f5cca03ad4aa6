package export

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestEncoder(t *testing.T) {
	t.Parallel()
	schema := Schema{Name: "a", Fields: []Field{{Name: "b"}, {Name: "a"}}}
	one, two, bad := `{"a":1,"b":"x,y"}`, `{"b":null,"c":"=2"}`, `[1]`
	for name, c := range map[string]struct {
		config  FeedConfig
		learn   []string
		items   []string
		want    string
		refused int
	}{
		"lines":                  {FeedConfig{}, nil, []string{one, bad, two}, one + "\n" + two + "\n", 1},
		"fields":                 {FeedConfig{Fields: []FeedField{{Name: "c"}, {Name: "a"}}}, nil, []string{one, bad, two}, "{\"a\":1}\n{\"c\":\"=2\"}\n", 1},
		"array":                  {FeedConfig{Format: "json"}, nil, []string{"5", one, `"x"`, bad, " ", two}, "[\n" + one + ",\n" + two + "\n]\n", 4},
		"an empty array":         {FeedConfig{Format: "json"}, nil, nil, "[\n\n]\n", 0},
		"columns of the first":   {FeedConfig{URI: "x.csv"}, nil, []string{one, two}, "a,b\r\n1,\"x,y\"\r\n,\r\n", 0},
		"columns that are known": {FeedConfig{Format: "csv"}, []string{one, bad, two}, []string{bad, one, two}, "a,b,c\r\n1,\"x,y\",\r\n,,=2\r\n", 1},
		"declared columns":       {FeedConfig{Format: "csv", Schemas: []Schema{schema}}, nil, []string{two}, "b,a\r\n,\r\n", 0},
		"no items":               {FeedConfig{Format: "csv", Schemas: []Schema{schema}}, nil, nil, "b,a\r\n", 0},
		"no items, no columns":   {FeedConfig{Format: "csv"}, nil, nil, "", 0},
		"formulas":               {FeedConfig{Format: "csv", GuardFormulas: true}, nil, []string{two}, "b,c\r\n,'=2\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			e, err := NewEncoder(&out, c.config)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range c.learn {
				e.Learn([]byte(item))
			}
			for _, item := range c.items {
				refused, err := e.Encode([]byte(item))
				if err != nil {
					t.Fatal(err)
				}
				if refused != nil {
					c.refused--
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want || c.refused != 0 {
				t.Errorf("got %q, want %q; %d more refused than wanted", out.String(), c.want, -c.refused)
			}
		})
	}
}

func TestEncoderCompresses(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e, err := NewEncoder(&out, FeedConfig{URI: "x.jsonl.gz"})
	if err != nil {
		t.Fatal(err)
	}
	item := `{"a":"` + strings.Repeat("x", 1000) + `"}`
	for range 300 { // several chunks
		if _, err := e.Encode([]byte(item)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || string(got) != strings.Repeat(item+"\n", 300) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestEncoderOfAFullDisk(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	e, err := NewEncoder(writeFunc(func([]byte) (int, error) { return 0, full }), FeedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Line("x"); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if _, err := NewEncoder(io.Discard, FeedConfig{Format: "xml"}); err == nil || !strings.Contains(err.Error(), `"xml"`) {
		t.Errorf("%v", err)
	}
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(b []byte) (int, error) { return f(b) }
