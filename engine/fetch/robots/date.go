package robots

import (
	"strings"
	"time"
)

// dateForms are RFC 822, RFC 850 and ISO 8601, as X-Robots-Tag's description names them, without the name of the weekday, and
// what pages write in their place.
var dateForms = []string{
	time.RFC3339,
	"2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05", "2006-01-02",
	"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05", "2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04", "2 Jan 2006",
	"2-Jan-2006 15:04:05 -0700", "2-Jan-2006 15:04:05", "2-Jan-06 15:04:05 -0700", "2-Jan-06 15:04:05", "2-Jan-2006",
}

// zones are the names of RFC 822 with their offsets. The time package knows only those of the machine's own zone.
var zones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700", "CET": "+0100", "CEST": "+0200", "BST": "+0100", "JST": "+0900",
}

// parseDate reads the date in value, which may go on in the first part of more ("Wed, 03 Dec 2025 ..."), and says how many parts
// it took. The time is zero for what is no date.
func parseDate(value string, more []string) (when time.Time, parts int) {
	if when, ok := readDate(value); ok {
		return when, 1
	}
	if len(more) > 0 && isWeekday(value) {
		when, _ = readDate(more[0])
		return when, 2
	}
	return time.Time{}, 1
}

func readDate(text string) (time.Time, bool) {
	words := strings.Fields(text)
	if n := len(words); n > 1 && zones[strings.ToUpper(words[n-1])] != "" {
		words[n-1] = zones[strings.ToUpper(words[n-1])]
	}
	if len(words) > 1 && isWeekday(words[0]) {
		words = words[1:]
	}
	text = strings.Join(words, " ")
	for _, form := range dateForms {
		if when, err := time.Parse(form, text); err == nil {
			return when.UTC(), true
		}
	}
	return time.Time{}, false
}

// isWeekday goes by the first three letters, so that it knows Wed, Wed. and Wednesday.
func isWeekday(word string) bool {
	word = strings.ToLower(strings.TrimSpace(word))
	if len(word) < 3 || strings.ContainsAny(word, " 0123456789") {
		return false
	}
	return strings.Contains("mon tue wed thu fri sat sun", word[:3])
}
