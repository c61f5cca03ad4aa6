package luabind

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
	"golang.org/x/net/http/httpguts"

	"luacrawl/engine"
	"luacrawl/scheduler"
	"luacrawl/scheduler/weburl"
)

// seedFields are the keys of a seed that is a JSON object; any other goes to meta.
type seedFields struct {
	URL        string                     `json:"url"`
	Method     string                     `json:"method"`
	Headers    map[string]string          `json:"headers"`
	Body       string                     `json:"body"`
	Meta       map[string]json.RawMessage `json:"meta"`
	Priority   int32                      `json:"priority"`
	Callback   string                     `json:"callback"`
	CbKwargs   json.RawMessage            `json:"cb_kwargs"`
	DontFilter *bool                      `json:"dont_filter"`
	Slot       string                     `json:"slot"`
}

// seedTypes say what belongs into a field of a seed.
var seedTypes = map[string]string{
	"url": "a string", "method": "a string", "body": "a string", "callback": "a string", "slot": "a string", "headers": "an object of strings", "meta": "an object",
	"priority": "a whole number of at most 9 digits", "dont_filter": "true or false",
}

var seedKeys = []string{"url", "method", "headers", "body", "meta", "priority", "callback", "cb_kwargs", "dont_filter", "slot"}

// defaultRequests is what a spider without make_request_from_data makes of a seed: a URL, or a JSON object.
func (g *generation) defaultRequests(seed []byte) (*engine.Output, error) {
	seed = bytes.TrimSpace(seed)
	var r *scheduler.Request
	var err error
	switch {
	case len(seed) == 0:
		err = errors.New("it is empty; push a URL or a JSON object with url")
	case !utf8.Valid(seed):
		err = errors.New("it is not UTF-8; a spider reads other bytes in make_request_from_data")
	case seed[0] == '{':
		r, err = g.seedObject(seed)
	default:
		r, err = seedURL(seed)
	}
	if err != nil {
		return nil, err
	}
	if name := cmp.Or(r.Callback, defaultCallback); !g.isCallback(name) {
		return nil, errors.New(g.noFunction("callback", r.Callback))
	}
	r.Revision = g.revision
	return &engine.Output{Requests: []*scheduler.Request{r}, Revision: g.revision}, nil
}

func seedURL(seed []byte) (*scheduler.Request, error) {
	u, err := absoluteURL(string(seed))
	switch {
	case err != nil && len(seed) > weburl.MaxLength && bytes.HasPrefix(seed, []byte("http")):
		return nil, fmt.Errorf("its URL %w", err)
	case err != nil:
		return nil, errors.New("it is neither a JSON object nor an absolute URL, which begins with http:// or https://")
	}
	return &scheduler.Request{URL: u, DontFilter: true}, nil
}

func (g *generation) seedObject(seed []byte) (*scheduler.Request, error) {
	f, others, err := splitSeed(seed)
	if err != nil {
		return nil, seedJSONError(err)
	}
	if f.URL == "" {
		return nil, errors.New("it has no url; a seed that is JSON needs one: {\"url\": \"https://...\"}")
	}
	u, err := absoluteURL(f.URL)
	switch {
	case err != nil && len(f.URL) > weburl.MaxLength:
		return nil, fmt.Errorf("its url %w", err)
	case err != nil:
		return nil, fmt.Errorf("url %q is not an absolute URL, which begins with http:// or https://", f.URL)
	}
	r := &scheduler.Request{URL: u, Body: []byte(f.Body), Priority: int(f.Priority), Callback: f.Callback, DontFilter: f.DontFilter == nil || *f.DontFilter}
	if r.Method = strings.ToUpper(f.Method); r.Method == http.MethodGet {
		r.Method = ""
	}
	if r.Method != "" && !httpguts.ValidHeaderFieldName(r.Method) {
		return nil, fmt.Errorf("method %.50q is not an HTTP method", f.Method)
	}
	if f.Slot != "" {
		if r.Slot, err = scheduler.SlotName(f.Slot); err != nil {
			return nil, fmt.Errorf("slot: %w", err)
		}
	}
	if r.Headers, err = seedHeaders(f.Headers); err != nil {
		return nil, err
	}
	if r.CbKwargs, err = seedKwargs(f.CbKwargs); err != nil {
		return nil, err
	}
	g.warnOthers(others)
	r.Meta, err = seedMeta(f.Meta, others)
	return r, err
}

// splitSeed reads a seed's fields, and the keys that are none of them. encoding/json takes "URL" for "url" as well, so the fields
// are taken out by their exact names first.
func splitSeed(seed []byte) (f seedFields, others map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(seed, &others); err != nil {
		return f, nil, err
	}
	known := map[string]json.RawMessage{}
	for _, key := range seedKeys {
		if raw, ok := others[key]; ok {
			known[key] = raw
			delete(others, key)
		}
	}
	exact, err := marshal(known)
	if err == nil {
		err = json.Unmarshal(exact, &f)
	}
	return f, others, err
}

func seedJSONError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		field, _, _ := strings.Cut(wrong.Field, ".")
		return fmt.Errorf("%s holds a JSON %s; it must be %s", wrong.Field, wrong.Value, seedTypes[field])
	}
	return fmt.Errorf("it begins like a JSON object and is none: %w", err)
}

func seedHeaders(headers map[string]string) (http.Header, error) {
	var h http.Header
	for name, value := range headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("header %.100q: %.100q cannot be sent", name, value)
		}
		if h == nil {
			h = http.Header{}
		}
		h.Set(name, value)
	}
	return h, nil
}

func seedKwargs(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "{}" {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, errors.New("cb_kwargs is not a JSON object")
	}
	return raw, nil
}

// seedMeta is the seed's meta with its unknown keys, numbers as they are written.
func seedMeta(meta, others map[string]json.RawMessage) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	maps.Copy(all, meta)
	maps.Copy(all, others)
	if len(all) == 0 {
		return nil, nil
	}
	return marshal(all)
}

// warnOthers says once that a seed has keys that nothing reads.
func (g *generation) warnOthers(others map[string]json.RawMessage) {
	if len(others) == 0 || g.options.Logger == nil {
		return
	}
	g.warnSeed.Do(func() {
		g.options.Logger.Warn("a seed has keys that requests do not have; they go to response.request.meta",
			slog.Any("keys", slices.Sorted(maps.Keys(others))), slog.Any("known", seedKeys))
	})
}

func marshal(fields map[string]json.RawMessage) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(fields); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Seeds calls spider.seeds, which returns a list of URLs or seed objects.
func (s *Spider) Seeds(ctx context.Context) ([][]byte, error) {
	g := s.current.Load()
	if !g.functions["seeds"] {
		return nil, nil
	}
	var seeds [][]byte
	_, err := g.run(0, func(v *vm) error {
		result, err := v.call(ctx, v.spider.RawGetString("seeds"))
		if err != nil {
			return err
		}
		seeds, err = v.seedList(result)
		return err
	})
	return seeds, err
}

func (v *vm) seedList(result lua.LValue) ([][]byte, error) {
	t, ok := result.(*lua.LTable)
	if !ok {
		return nil, v.mistake("seeds", "seeds returned %s; it must return a list of URLs or of tables with url", describe(result))
	}
	if t.RawGetString("url") != lua.LNil {
		return nil, v.mistake("seeds", "seeds returned one seed; it must return a list: { { url = ... } }")
	}
	var seeds [][]byte
	for i := 1; i <= t.Len(); i++ {
		switch seed := t.RawGetInt(i).(type) {
		case lua.LString:
			seeds = append(seeds, []byte(seed))
		case *lua.LTable:
			b, err := appendJSON(nil, fmt.Sprintf("seed[%d]", i), seed)
			if err != nil {
				return nil, v.mistake("seeds", "seeds: %s", err)
			}
			seeds = append(seeds, b)
		default:
			return nil, v.mistake("seeds", "seeds returned a list with a %s at %d; a seed is a URL or a table with url", seed.Type(), i)
		}
	}
	return seeds, nil
}
