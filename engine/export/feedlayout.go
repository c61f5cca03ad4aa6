package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// layout turns records into the text of one format.
type layout interface {
	// prepare looks at records before the first of them is turned into a row.
	prepare(records []Record)
	row(dst []byte, record Record) ([]byte, error)
	// head stands before the first row of a file, gap before any other; footOf the format stands at the end.
	head() []byte
	gap() string
	// columns are the names in the head of a file that is being written; adopt takes them from a file that goes on.
	columns() []string
	adopt(columns []string)
}

// newLayout makes the layout of a feed; log hears of fields that have no column.
func newLayout(c FeedConfig, log *slog.Logger) layout {
	if c.Format == "csv" {
		return newCSVLayout(c, log)
	}
	return &jsonLayout{array: c.Format == "json", fields: c.Fields}
}

// jsonLayout writes one object a line; as an array, with brackets and commas around them.
type jsonLayout struct {
	array  bool
	fields []FeedField
}

func (l *jsonLayout) prepare([]Record)  {}
func (l *jsonLayout) columns() []string { return nil }
func (l *jsonLayout) adopt([]string)    {}

func (l *jsonLayout) head() []byte {
	if l.array {
		return []byte("[\n")
	}
	return nil
}

func (l *jsonLayout) gap() string {
	if l.array {
		return ",\n"
	}
	return ""
}

// footOf is what ends a file of a format.
func footOf(format string) string {
	if format == "json" {
		return "\n]\n"
	}
	return ""
}

func (l *jsonLayout) row(dst []byte, record Record) ([]byte, error) {
	dst, err := l.object(dst, record)
	if err == nil && !l.array {
		dst = append(dst, '\n')
	}
	return dst, err
}

func (l *jsonLayout) object(dst []byte, record Record) ([]byte, error) {
	if len(l.fields) > 0 {
		return l.chosen(dst, record)
	}
	if !json.Valid(record.JSON) {
		return nil, fmt.Errorf("item is not valid JSON")
	}
	if bytes.IndexByte(record.JSON, '\n') < 0 {
		return append(dst, record.JSON...), nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, record.JSON); err != nil {
		return nil, err
	}
	return append(dst, line.Bytes()...), nil
}

// chosen writes the fields that were asked for and that the item has, in that order.
func (l *jsonLayout) chosen(dst []byte, record Record) ([]byte, error) {
	values, err := split(record.JSON)
	if err != nil {
		return nil, err
	}
	dst = append(dst, '{')
	first := true
	for _, field := range l.fields {
		value, ok := values.get(field.Name)
		if !ok {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst, err = jsontext.AppendQuote(dst, field.title()); err != nil {
			return nil, err
		}
		dst = append(append(dst, ':'), value...)
	}
	return append(dst, '}'), nil
}

// jsonMember is one field of an item: values keep the text that they have, so that no number loses digits.
type jsonMember struct {
	name  string
	value jsontext.Value
}

type jsonMembers []jsonMember

func (m jsonMembers) get(name string) (jsontext.Value, bool) {
	for _, member := range m {
		if member.name == name {
			return member.value, true
		}
	}
	return nil, false
}

// split reads an item into its fields.
func split(item []byte) (jsonMembers, error) {
	d := jsontext.NewDecoder(bytes.NewReader(item))
	open, err := d.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("item is not valid JSON: %w", err)
	}
	if open.Kind() != jsontext.KindBeginObject {
		return nil, fmt.Errorf("item is not a JSON object but %s", strconv.Quote(open.String()))
	}
	var members jsonMembers
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("item is not valid JSON: %w", err)
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("item is not valid JSON: %w", err)
		}
		value = value.Clone()
		if err := value.Compact(); err != nil {
			return nil, fmt.Errorf("item is not valid JSON: %w", err)
		}
		members = append(members, jsonMember{text, value})
	}
	return members, nil
}
