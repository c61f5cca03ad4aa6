package cookies

import (
	"errors"
	"strings"
	"time"
)

var errDate = errors.New("not a date")

// readDate reads an Expires date by the algorithm of RFC 6265bis, 5.1.1: the tokens that look like a time, a day, a month and a
// year, in any order and with anything between them.
func readDate(s string) (time.Time, error) {
	var d dateParts
	for _, token := range strings.FieldsFunc(s, isDelimiter) {
		d.take(token)
	}
	return d.date()
}

// isDelimiter is the RFC's set: what is neither a digit, a letter, a colon nor a byte above ASCII.
func isDelimiter(r rune) bool {
	return r == '\t' || r >= ' ' && r <= '/' || r >= ';' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

// dateParts are the parts found so far.
type dateParts struct {
	clock                     [3]int
	day, month, year          int
	hasClock, hasDay, hasYear bool
}

// take gives token to the first part that is missing and that it can be.
func (d *dateParts) take(token string) {
	if clock, ok := readClock(token); ok && !d.hasClock {
		d.clock, d.hasClock = clock, true
		return
	}
	if day, n := digits(token); n >= 1 && n <= 2 && !d.hasDay {
		d.day, d.hasDay = day, true
		return
	}
	if month := readMonth(token); month > 0 && d.month == 0 {
		d.month = month
		return
	}
	if year, n := digits(token); n >= 2 && n <= 4 && !d.hasYear {
		d.year, d.hasYear = fullYear(year, n), true
	}
}

func fullYear(year, digits int) int {
	switch {
	case year >= 70 && year <= 99:
		return year + 1900
	case year <= 69:
		return year + 2000
	}
	return year
}

func (d *dateParts) date() (time.Time, error) {
	if !d.hasClock || !d.hasDay || d.month == 0 || !d.hasYear || d.year < 1601 || d.clock[0] > 23 || d.clock[1] > 59 || d.clock[2] > 59 {
		return time.Time{}, errDate
	}
	when := time.Date(d.year, time.Month(d.month), d.day, d.clock[0], d.clock[1], d.clock[2], 0, time.UTC)
	if when.Day() != d.day {
		return time.Time{}, errDate
	}
	return when, nil
}

// readClock reads "h:m:s" with one or two digits each; what is no digit may follow.
func readClock(token string) (clock [3]int, ok bool) {
	for i := range clock {
		v, n := digits(token)
		if n < 1 || n > 2 {
			return clock, false
		}
		clock[i], token = v, token[n:]
		if i == 2 {
			break
		}
		if token, ok = strings.CutPrefix(token, ":"); !ok {
			return clock, false
		}
	}
	return clock, true
}

// digits reads the number that token begins with, and says how many digits it has: a fifth one is counted, not read.
func digits(token string) (value, n int) {
	for n < len(token) && token[n] >= '0' && token[n] <= '9' {
		if n < 4 {
			value = value*10 + int(token[n]-'0')
		}
		n++
	}
	return value, n
}

// readMonth knows a month by its first three letters, 0 if it is none.
func readMonth(token string) int {
	if len(token) < 3 {
		return 0
	}
	i := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(token[:3]))
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}
