package sqlsink

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"luacrawl/engine/database"
	"luacrawl/engine/export"
)

// value is what a statement gets for a field's JSON; nil for one that is not there. The error says why the column cannot take it.
func (c *column) value(d database.Dialect, raw json.RawMessage) (any, error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	v, err := c.convert(d, raw)
	if err != nil {
		return nil, err
	}
	if s, ok := v.(string); ok {
		return s, c.fits(d, s)
	}
	return v, nil
}

func (c *column) convert(d database.Dialect, raw json.RawMessage) (any, error) {
	switch c.kind {
	case export.JSON:
		return string(raw), nil
	case export.Number:
		f, err := strconv.ParseFloat(scalar(raw), 64)
		if err != nil || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%s is no number that it holds", clip(raw))
		}
		return f, nil
	case export.Integer:
		return integer(raw)
	case export.Boolean:
		switch scalar(raw) {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return nil, fmt.Errorf("%s is neither true nor false", clip(raw))
	case export.Time:
		t, err := time.Parse(time.RFC3339, scalar(raw))
		if err != nil {
			return nil, fmt.Errorf("%s is no time in RFC 3339 form, such as 2026-01-31T12:00:00Z", clip(raw))
		}
		return c.time(d, t.UTC()), nil
	case export.String:
		if raw[0] == '{' || raw[0] == '[' {
			return nil, fmt.Errorf("%s is a table, and the column holds text; declare the field as json", clip(raw))
		}
	}
	return scalar(raw), nil
}

// time is in UTC as the column has times. MySQL's DATETIME takes no zone.
func (c *column) time(d database.Dialect, t time.Time) string {
	if d == database.MySQL && c.family == timeFamily {
		return t.Format("2006-01-02 15:04:05.000000")
	}
	return t.Format("2006-01-02T15:04:05.999999Z")
}

// integer takes whole numbers of 64 bits. Those past 2^53 come as strings from Lua.
func integer(raw json.RawMessage) (any, error) {
	text := scalar(raw)
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, fmt.Errorf("%s is no whole number of 64 bits", clip(raw))
	}
	return int64(f), nil
}

// scalar is the text of a string, or the JSON of anything else.
func scalar(raw json.RawMessage) string {
	if raw[0] != '"' {
		return string(raw)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return string(raw)
	}
	return s
}

// fits refuses text that the database would refuse without naming the column.
func (c *column) fits(d database.Dialect, s string) error {
	if d == database.Postgres && strings.ContainsRune(s, 0) {
		return errors.New("the text holds a NUL character, which PostgreSQL does not take; strip it in process_item: (text:gsub(\"%z\", \"\"))")
	}
	if c.chars > 0 && c.family == textFamily && d != database.SQLite {
		if n := utf8.RuneCountInString(s); n > c.chars {
			return fmt.Errorf("the column holds %d characters, the text has %d; widen the column, or shorten the text in process_item", c.chars, n)
		}
	}
	return nil
}

// clip is the start of a value, for an error.
func clip(raw json.RawMessage) string {
	const most = 60
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "..."
}
