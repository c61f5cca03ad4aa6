package export

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// csvLayout writes a header and one line an item, as RFC 4180 has it: CRLF, quotes doubled. A field that is missing or null is empty; lists and tables
// are JSON.
type csvLayout struct {
	fields   []FeedField // the header; nil until the first items are seen, if nothing declares it
	declared bool        // by the spider or the feed
	chosen   bool        // by the feed, so that what has no column is not missed
	guard    bool
	warned   map[string]bool // fields without a column
	log      *slog.Logger
}

// maxWarned bounds the fields that are warned of: an item may have any names.
const maxWarned = 100

func newCSVLayout(c FeedConfig, log *slog.Logger) *csvLayout {
	l := &csvLayout{fields: c.Fields, chosen: len(c.Fields) > 0, guard: c.GuardFormulas, warned: map[string]bool{}, log: log}
	if len(l.fields) == 0 {
		l.fields = declaredFields(c.Schemas, c.Kinds)
	}
	l.declared = len(l.fields) > 0
	return l
}

// declaredFields are those of all declarations that a feed takes, in their order.
func declaredFields(schemas []Schema, kinds []string) []FeedField {
	var fields []FeedField
	for _, schema := range schemas {
		if len(kinds) > 0 && !slices.Contains(kinds, schema.Name) {
			continue
		}
		for _, field := range schema.Fields {
			if f := (FeedField{Name: field.Name}); !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// prepare makes the header of the first records that come, if nothing declares one.
func (l *csvLayout) prepare(records []Record) {
	if len(l.fields) > 0 {
		return
	}
	for _, record := range records {
		members, err := split(record.JSON)
		if err != nil {
			continue // row refuses it
		}
		for _, member := range members {
			if f := (FeedField{Name: member.name}); !slices.Contains(l.fields, f) {
				l.fields = append(l.fields, f)
			}
		}
	}
}

func (l *csvLayout) columns() []string {
	names := make([]string, len(l.fields))
	for i, field := range l.fields {
		names[i] = field.title()
	}
	return names
}

func (l *csvLayout) adopt(columns []string) {
	if l.declared {
		return
	}
	l.fields = nil
	for _, name := range columns {
		l.fields = append(l.fields, FeedField{Name: name})
	}
}

func (l *csvLayout) head() []byte {
	var line []byte
	for i, name := range l.columns() {
		line = l.cell(line, i, name, true)
	}
	return l.endLine(line, 0)
}

func (l *csvLayout) gap() string { return "" }

func (l *csvLayout) row(dst []byte, record Record) ([]byte, error) {
	members, err := split(record.JSON)
	if err != nil {
		return nil, err
	}
	if len(l.fields) == 0 {
		return nil, fmt.Errorf("item has no fields, and nothing declares the columns")
	}
	start := len(dst)
	for i, field := range l.fields {
		value, _ := members.get(field.Name)
		text, isText := cellText(value)
		dst = l.cell(dst, i, text, isText)
	}
	l.warn(members)
	return l.endLine(dst, start), nil
}

// warn says once of each field that it has no column: where nothing was chosen, somebody may miss it.
func (l *csvLayout) warn(members jsonMembers) {
	for _, member := range members {
		if l.chosen {
			return
		}
		known := slices.ContainsFunc(l.fields, func(f FeedField) bool { return f.Name == member.name })
		if known || l.warned[member.name] || len(l.warned) >= maxWarned {
			continue
		}
		l.warned[member.name] = true
		l.log.Warn("a field has no column in the csv and is left out there; fields says which columns there are", "field", member.name, "columns", l.columns())
	}
}

// cellText is a value as a cell, and whether it is text rather than a number.
func cellText(value jsontext.Value) (string, bool) {
	switch value.Kind() {
	case jsontext.KindInvalid, jsontext.KindNull:
		return "", false
	case jsontext.KindString:
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return string(value), true
		}
		return string(text), true
	}
	return string(value), false
}

func (l *csvLayout) cell(dst []byte, i int, text string, isText bool) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	if l.guard && isText && isFormula(text) {
		text = "'" + text
	}
	if !needsQuotes(text) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(text, `"`, `""`)...)
	return append(dst, '"')
}

// endLine ends a line that began at start. A line of one empty cell gets quotes, since readers skip empty lines.
func (l *csvLayout) endLine(dst []byte, start int) []byte {
	if len(dst) == start {
		dst = append(dst, '"', '"')
	}
	return append(dst, '\r', '\n')
}

// needsQuotes reports whether readers could take a part of the text for structure: RFC 4180, and blanks at the ends, which some trim, NUL, and
// PostgreSQL's end of data.
func needsQuotes(text string) bool {
	if text == "" {
		return false
	}
	return strings.ContainsAny(text, ",\"\r\n\x00") || text == `\.` || strings.ContainsRune(" \t", rune(text[0])) || strings.ContainsRune(" \t", rune(text[len(text)-1]))
}

// isFormula reports whether a spreadsheet may run the text (OWASP, CSV injection; with the wide forms of East Asian input). A
// whole number past 2^53 is text too, and is none, with its minus.
func isFormula(text string) bool {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil && text[0] == '-' {
		return false
	}
	for _, start := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}
