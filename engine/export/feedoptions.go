package export

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// feedOptions are the keys of a feed's table.
var feedOptions = map[string]func(*FeedConfig, any) error{
	"uri":            textOption(func(c *FeedConfig) *string { return &c.URI }),
	"path":           textOption(func(c *FeedConfig) *string { return &c.URI }),
	"name":           textOption(func(c *FeedConfig) *string { return &c.Name }),
	"format":         textOption(func(c *FeedConfig) *string { return &c.Format }),
	"compress":       textOption(func(c *FeedConfig) *string { return &c.Compress }),
	"endpoint":       textOption(func(c *FeedConfig) *string { return &c.Endpoint }),
	"region":         textOption(func(c *FeedConfig) *string { return &c.Region }),
	"guard_formulas": flagOption(func(c *FeedConfig) *bool { return &c.GuardFormulas }),
	"overwrite":      flagOption(func(c *FeedConfig) *bool { return &c.Overwrite }),
	"fields":         fieldsOption,
	"items":          kindsOption,
	"rotate_size": func(c *FeedConfig, v any) error {
		n, err := amount(v, feedBytes, "a number of bytes, as 100000 or 64MB")
		c.RotateSize = int64(n)
		return err
	},
	"rotate_count": func(c *FeedConfig, v any) error {
		n, err := amount(v, nil, "a number of items")
		c.RotateCount = int(n)
		return err
	},
	"rotate_every": func(c *FeedConfig, v any) error {
		n, err := amount(v, feedSeconds, "seconds, or a time as 10m or 1h")
		c.RotateEvery = time.Duration(n * float64(time.Second))
		return err
	},
}

var (
	feedBytes   = map[string]float64{"B": 1, "K": 1 << 10, "KB": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "MIB": 1 << 20, "G": 1 << 30, "GB": 1 << 30, "GIB": 1 << 30}
	feedSeconds = map[string]float64{"MS": 0.001, "S": 1, "M": 60, "H": 3600, "D": 86400}
)

// ParseFeed reads a feed's table as Lua gives it: text, numbers, booleans, []any and map[string]any. Keys: uri (or path), name, format, compress, fields,
// items, rotate_size, rotate_count, rotate_every, guard_formulas, overwrite, endpoint, region.
//
// fields is a list of names, an entry of which may be { name = "title", as = "Title" } or { "title", "Title" }, or a table that renames ({ title = "Title" },
// columns by the alphabet). items is a kind or a list of kinds. An error names the key.
func ParseFeed(table map[string]any) (FeedConfig, error) {
	var c FeedConfig
	_, uri := table["uri"]
	if _, path := table["path"]; uri && path {
		return c, fmt.Errorf("feed: uri and path are the same; give one of them")
	}
	where := ""
	for _, key := range []string{"uri", "path"} {
		if text, ok := table[key].(string); ok {
			where = fmt.Sprintf(" %q", redact(text))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		set, ok := feedOptions[key]
		if !ok {
			return c, fmt.Errorf("feed%s: unknown key %q; known are %s", where, key, strings.Join(slices.Sorted(maps.Keys(feedOptions)), ", "))
		}
		if err := set(&c, table[key]); err != nil {
			return c, fmt.Errorf("feed%s: %s: %w", where, key, err)
		}
	}
	return c, c.Validate()
}

func textOption(field func(*FeedConfig) *string) func(*FeedConfig, any) error {
	return func(c *FeedConfig, v any) error {
		text, ok := v.(string)
		if !ok || strings.TrimSpace(text) == "" || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			return fmt.Errorf("want text without control characters, got %s", shown(v))
		}
		*field(c) = text
		return nil
	}
}

func flagOption(field func(*FeedConfig) *bool) func(*FeedConfig, any) error {
	return func(c *FeedConfig, v any) error {
		on, ok := v.(bool)
		if !ok {
			return fmt.Errorf("want true or false, got %s", shown(v))
		}
		*field(c) = on
		return nil
	}
}

func kindsOption(c *FeedConfig, v any) error {
	if kind, ok := v.(string); ok {
		v = []any{kind}
	}
	list, ok := asList(v)
	if !ok || len(list) == 0 {
		return fmt.Errorf("want a list of kinds of items, got %s", shown(v))
	}
	for _, entry := range list {
		kind, ok := entry.(string)
		if !ok {
			return fmt.Errorf("want a list of kinds of items, got %s in it", shown(entry))
		}
		c.Kinds = append(c.Kinds, kind)
	}
	return nil
}

func fieldsOption(c *FeedConfig, v any) error {
	if names, ok := v.(map[string]any); ok && len(names) > 0 {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			as, ok := names[name].(string)
			if !ok {
				return fmt.Errorf("want the new name of %q, got %s", name, shown(names[name]))
			}
			c.Fields = append(c.Fields, FeedField{Name: name, As: as})
		}
		return nil
	}
	list, ok := asList(v)
	if !ok || len(list) == 0 {
		return fmt.Errorf(`want a list of names, as { "title", { name = "url", as = "link" } }, got %s`, shown(v))
	}
	for i, entry := range list {
		field, ok := asField(entry)
		if !ok {
			return fmt.Errorf(`entry %d: want a name or { name = "url", as = "link" }, got %s`, i+1, shown(entry))
		}
		c.Fields = append(c.Fields, field)
	}
	return nil
}

func asField(v any) (FeedField, bool) {
	switch v := v.(type) {
	case string:
		return FeedField{Name: v}, v != ""
	case map[string]any:
		name, named := v["name"].(string)
		as, renamed := v["as"].(string)
		return FeedField{Name: name, As: as}, named && name != "" && (renamed && len(v) == 2 || len(v) == 1)
	}
	pair, ok := asList(v)
	if !ok || len(pair) != 2 {
		return FeedField{}, false
	}
	name, named := pair[0].(string)
	as, renamed := pair[1].(string)
	return FeedField{Name: name, As: as}, named && renamed && name != "" && as != ""
}

func asList(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		list := make([]any, len(v))
		for i, text := range v {
			list[i] = text
		}
		return list, true
	}
	return nil, false
}

// amount reads a whole or, with units, any number of at least 1 (a millisecond with time units).
func amount(v any, units map[string]float64, want string) (float64, error) {
	n, err := math.NaN(), error(nil)
	switch v := v.(type) {
	case float64:
		n = v
	case int:
		n = float64(v)
	case int64:
		n = float64(v)
	case string:
		digits := strings.TrimRight(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
		unit, scale := strings.ToUpper(strings.TrimSpace(v[len(digits):])), 1.0
		if unit != "" {
			scale = units[unit]
		}
		n, err = strconv.ParseFloat(digits, 64)
		n *= scale
	}
	least := 1.0
	if _, time := units["MS"]; time {
		least = 0.001
	}
	if err != nil || !(n >= least && n <= 1<<40) || n != math.Trunc(n) && least == 1 {
		return 0, fmt.Errorf("want %s, got %s", want, shown(v))
	}
	return n, nil
}

// shown is a value in a message, short.
func shown(v any) string {
	text := fmt.Sprintf("%v", v)
	if s, ok := v.(string); ok {
		text = strconv.Quote(s)
	}
	if len(text) > 80 {
		text = text[:80] + "..."
	}
	return text
}

// redact takes credentials out of a URI that should not hold any.
func redact(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return uri
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = "***" + rest[at:]
	}
	return scheme + "://" + rest
}
