package luabind

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine/export"
)

// coerce makes a value of a declared type of what a script gives, where that is without doubt.
func coerce(t export.Type, lv lua.LValue) (lua.LValue, error) {
	switch t {
	case export.String:
		return toString(lv)
	case export.Number:
		return toNumber(lv)
	case export.Integer:
		return toInteger(lv)
	case export.Boolean:
		return toBoolean(lv)
	case export.Time:
		return toTime(lv)
	}
	return lv, nil // json: whatever can be kept
}

func toString(lv lua.LValue) (lua.LValue, error) {
	switch v := lv.(type) {
	case lua.LString:
		return v, nil
	case lua.LNumber, lua.LBool:
		return lua.LString(v.String()), nil
	}
	return nil, fmt.Errorf("a %s is no string", lv.Type())
}

func toNumber(lv lua.LValue) (lua.LValue, error) {
	switch v := lv.(type) {
	case lua.LNumber:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("%v is no number that can be kept", float64(v))
		}
		return v, nil
	case lua.LString:
		n, err := strconv.ParseFloat(strings.TrimSpace(string(v)), 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, fmt.Errorf("%.60q is no number", string(v))
		}
		return lua.LNumber(n), nil
	}
	return nil, fmt.Errorf("a %s is no number", lv.Type())
}

// toInteger gives a number, or the digits as text from 2^53 on, where a number would lose some.
func toInteger(lv lua.LValue) (lua.LValue, error) {
	if text, ok := lv.(lua.LString); ok {
		if i, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			if i >= exact || i <= -exact {
				return lua.LString(strconv.FormatInt(i, 10)), nil
			}
			return lua.LNumber(i), nil
		}
	}
	n, err := toNumber(lv)
	if err != nil {
		return nil, err
	}
	switch f := float64(n.(lua.LNumber)); {
	case f != math.Trunc(f):
		return nil, fmt.Errorf("%v is no whole number", f)
	case math.Abs(f) < exact:
		return n, nil
	}
	if text, ok := lv.(lua.LString); ok {
		return nil, fmt.Errorf("%.60q is no whole number of 64 bits; write it in digits alone", string(text))
	}
	return nil, fmt.Errorf("%.0f may have lost digits, as Lua's numbers do from 2^53 on; give it as a string: \"9007199254740993\"", float64(n.(lua.LNumber)))
}

func toBoolean(lv lua.LValue) (lua.LValue, error) {
	switch v := lv.(type) {
	case lua.LBool:
		return v, nil
	case lua.LString:
		switch strings.ToLower(strings.TrimSpace(string(v))) {
		case "true", "yes", "1":
			return lua.LTrue, nil
		case "false", "no", "0":
			return lua.LFalse, nil
		}
		return nil, fmt.Errorf("%.60q is neither true nor false", string(v))
	case lua.LNumber:
		if v == 0 || v == 1 {
			return lua.LBool(v == 1), nil
		}
	}
	return nil, fmt.Errorf("a %s is neither true nor false", lv.Type())
}

// toTime gives RFC 3339 text of seconds since 1970 or of a text in one of the usual forms; in UTC where that names no zone.
func toTime(lv lua.LValue) (lua.LValue, error) {
	switch v := lv.(type) {
	case lua.LNumber:
		if s := float64(v); s >= minTime && s < maxTime {
			return lua.LString(time.UnixMicro(int64(math.Round(s * 1e6))).UTC().Format(time.RFC3339Nano)), nil
		}
		return nil, fmt.Errorf("%v is no time in seconds between the years 0 and 9999", float64(v))
	case lua.LString:
		t, err := parseTime(strings.TrimSpace(string(v)), commonLayouts)
		if err != nil {
			return nil, err
		}
		return lua.LString(t.Format(time.RFC3339Nano)), nil
	}
	return nil, fmt.Errorf("a %s is no time; give seconds since 1970, or a text such as 2026-01-31 12:00", lv.Type())
}
