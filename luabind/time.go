package luabind

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

func init() { modules["time"] = timeModule }

// timeModule is require "time": times as seconds since 1970, with their fraction.
func timeModule(v *vm) lua.LValue {
	return v.L.SetFuncs(v.L.NewTable(), map[string]lua.LGFunction{
		"now": timeNow, "parse": timeParse, "format": timeFormat,
	})
}

// timeNow is time.now().
func timeNow(L *lua.LState) int {
	L.Push(seconds(time.Now()))
	return 1
}

func seconds(t time.Time) lua.LNumber { return lua.LNumber(float64(t.UnixMicro()) / 1e6) }

// timeParse is time.parse(text[, layout]): the time that a text names, in UTC where it names no zone; nil and why when it names
// none. The layout has strptime's fields (%Y-%m-%d %H:%M:%S); without one the usual forms are tried.
func timeParse(L *lua.LState) int {
	s := strings.TrimSpace(L.CheckString(1))
	layouts := commonLayouts
	if L.Get(2) != lua.LNil {
		layout, err := goLayout(L.CheckString(2), "")
		if err != nil {
			L.ArgError(2, err.Error())
		}
		layouts = []string{layout}
	}
	t, err := parseTime(s, layouts)
	if err != nil {
		return pushError(L, err)
	}
	L.Push(seconds(t))
	return 1
}

// The years 0 to 9999, which layouts of four digits reach.
const (
	minTime = -62167219200
	maxTime = 253402300800
)

// timeFormat is time.format(seconds[, layout]): in UTC, as RFC 3339 when there is no layout.
func timeFormat(L *lua.LState) int {
	s := float64(L.CheckNumber(1))
	if math.IsNaN(s) || s < minTime || s >= maxTime {
		L.ArgError(1, "the time is not between the years 0 and 9999; it is in seconds")
	}
	layout := time.RFC3339
	if L.Get(2) != lua.LNil {
		var err error
		if layout, err = goLayout(L.CheckString(2), ".000000"); err != nil {
			L.ArgError(2, err.Error())
		}
	}
	L.Push(lua.LString(time.UnixMicro(int64(math.Floor(s * 1e6))).UTC().Format(layout)))
	return 1
}

// commonLayouts are the forms of feeds, headers, meta elements and databases. Fractions of a second are read in all of them.
var commonLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "20060102T150405Z0700",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
	"2006/01/02 15:04:05", "2006/01/02 15:04", "2006/01/02",
	"Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST",
	"Mon, 2 Jan 2006 15:04 -0700", "Mon, 2 Jan 2006 15:04 MST",
	time.RFC850, "Mon, 02-Jan-2006 15:04:05 MST", time.ANSIC, time.UnixDate, time.RubyDate,
	"2 Jan 2006", "Jan 2, 2006", "2 January 2006", "January 2, 2006", "Mon, 2 Jan 2006", "January 2, 2006 15:04", "Jan 2, 2006 3:04 PM", "January 2, 2006 3:04 PM",
}

func parseTime(s string, layouts []string) (time.Time, error) {
	if len(s) > 100 {
		return time.Time{}, errors.New("too long for a time")
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, s, time.UTC); err == nil {
			return inZone(t, s)
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time in a known form", s)
}

// zoneHours are the zones that RFC 822 gives a meaning. Others are used for several zones.
var zoneHours = map[string]int{"UTC": 0, "GMT": 0, "UT": 0, "Z": 0, "": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}

// inZone corrects a time whose zone is a name, which Go reads as UTC whatever it is.
func inZone(t time.Time, s string) (time.Time, error) {
	name, offset := t.Zone()
	hours, known := zoneHours[name]
	switch {
	case strings.HasPrefix(name, "GMT") && len(name) > len("GMT"): // GMT+8: Go notes the offset, and reads the time as UTC all the same
		return t.Add(-time.Duration(offset) * time.Second), nil
	case offset != 0:
		return t, nil
	case !known:
		return t, fmt.Errorf("%q: the zone %s has no one meaning", s, name)
	}
	return t.Add(-time.Duration(hours) * time.Hour), nil
}

// timeFields are strftime's fields as Go writes them.
var timeFields = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'j': "002", 'b': "Jan", 'h': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'z': "-0700", 'Z': "MST",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", '%': "%", 'n': "\n", 't': "\t",
}

// maxLayout is the longest layout, in bytes.
const maxLayout = 200

// goLayout translates a strftime layout. fraction is what ".%f" becomes, which is only possible behind the seconds.
func goLayout(layout, fraction string) (string, error) {
	if len(layout) > maxLayout {
		return "", fmt.Errorf("a layout of %d bytes, more than %d", len(layout), maxLayout)
	}
	if !strings.Contains(layout, "%") {
		return "", fmt.Errorf("layout %q has no fields; write them as %%Y-%%m-%%d %%H:%%M:%%S", layout)
	}
	var out strings.Builder
	for rest := layout; rest != ""; {
		literal, field, found := strings.Cut(rest, "%")
		if err := checkLiteral(literal); err != nil {
			return "", err
		}
		if !found {
			out.WriteString(literal)
			break
		}
		if field == "" {
			return "", fmt.Errorf("layout %q ends in %%", layout)
		}
		rest = field[1:]
		if field[0] == 'f' {
			if literal != "." || !strings.HasSuffix(out.String(), "05") {
				return "", errors.New("the field %f is only possible as %S.%f")
			}
			out.WriteString(fraction)
			continue
		}
		value, ok := timeFields[field[0]]
		if !ok {
			return "", fmt.Errorf("layout %q: the field %%%s is not known", layout, field[:1])
		}
		out.WriteString(literal)
		out.WriteString(value)
	}
	return out.String(), nil
}

// checkLiteral refuses text between fields that Go would take for a field.
func checkLiteral(s string) error {
	sample := time.Date(1983, 11, 29, 8, 57, 58, 123_456_789, time.FixedZone("XYZ", 3600))
	if strings.ContainsAny(s, "0123456789") || sample.Format(s) != s {
		return fmt.Errorf("the text %q cannot stand in a layout", s)
	}
	return nil
}
