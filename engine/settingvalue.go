package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file turns what a layer gives (a Lua number, a word of the command line) into the value of a setting.

func text(field func(*Settings) *string) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		str, ok := v.(string)
		if !ok {
			return fmt.Errorf("want text, got %v", v)
		}
		if str == "" || strings.ContainsFunc(str, func(r rune) bool { return r < ' ' }) {
			return fmt.Errorf("want text without control characters, got %q", str)
		}
		*field(s) = str
		return nil
	}
}

func flag(field func(*Settings) *bool) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		switch v {
		case true, "true", "1", "yes", "on":
			*field(s) = true
		case false, "false", "0", "no", "off":
			*field(s) = false
		default:
			return fmt.Errorf("want true or false, got %v", v)
		}
		return nil
	}
}

func oneOf[T ~string](field func(*Settings) *T, allowed ...T) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		str, _ := v.(string)
		if !slices.Contains(allowed, T(str)) {
			return fmt.Errorf("want one of %v, got %v", allowed, v)
		}
		*field(s) = T(str)
		return nil
	}
}

func count[T int | int64](field func(*Settings) *T, least, most int64) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		f, err := number(v, nil)
		if err != nil {
			return err
		}
		if f != math.Trunc(f) || f < float64(least) || f > float64(most) {
			return fmt.Errorf("want a whole number from %d to %d, got %v", least, most, v)
		}
		*field(s) = T(f)
		return nil
	}
}

var byteUnits = map[string]float64{"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

func size(field func(*Settings) *int64, least, most int64) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		f, err := number(v, byteUnits)
		if err != nil {
			return err
		}
		if f < float64(least) || f > float64(most) {
			return fmt.Errorf("want %d to %d bytes, got %v", least, most, v)
		}
		*field(s) = int64(f)
		return nil
	}
}

var timeUnits = map[string]float64{"MS": 0.001, "S": 1, "M": 60, "H": 3600, "D": 86400}

func duration(field func(*Settings) *time.Duration, least, most time.Duration) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		f, err := number(v, timeUnits)
		if err != nil {
			return err
		}
		if f < least.Seconds() || f > most.Seconds() {
			return fmt.Errorf("want %v to %v, got %v", least, most, v)
		}
		*field(s) = time.Duration(f * float64(time.Second))
		return nil
	}
}

// number reads a finite number; a string may end in one of units (case does not matter).
func number(v any, units map[string]float64) (float64, error) {
	switch v := v.(type) {
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v, nil
		}
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case string:
		word := strings.TrimSpace(v)
		digits := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
		scale := 1.0
		if unit := strings.ToUpper(strings.TrimSpace(word[len(digits):])); unit != "" {
			known, ok := units[unit]
			if !ok {
				return 0, fmt.Errorf("want a number, got %q", v)
			}
			scale = known
		}
		if f, err := strconv.ParseFloat(digits, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f * scale, nil
		}
		return 0, fmt.Errorf("want a number, got %q", v)
	}
	return 0, fmt.Errorf("want a number, got %v", v)
}

func decimal(field func(*Settings) *float64, least, most float64) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		f, err := number(v, nil)
		if err != nil {
			return err
		}
		if f < least || f > most {
			return fmt.Errorf("want %v to %v, got %v", least, most, v)
		}
		*field(s) = f
		return nil
	}
}

// codes reads status codes: a list of numbers, or "404,410" on the command line, where "" are none.
func codes(field func(*Settings) *[]int) func(*Settings, any) error {
	return func(s *Settings, v any) error {
		var list []any
		switch v := v.(type) {
		case []any:
			list = v
		case string:
			for word := range strings.SplitSeq(v, ",") {
				list = append(list, word)
			}
			if strings.TrimSpace(v) == "" {
				list = nil
			}
		default:
			list = []any{v}
		}
		codes := make([]int, 0, len(list))
		for _, one := range list {
			f, err := number(one, nil)
			if err != nil || f != math.Trunc(f) || f < 100 || f > 999 {
				return fmt.Errorf("want status codes from 100 to 999, got %v", one)
			}
			codes = append(codes, int(f))
		}
		*field(s) = codes
		return nil
	}
}

// Nearest returns the word of known that is closest to word (an edit distance of at most a third of its length), or "".
func Nearest(word string, known []string) string {
	best, least := "", len(word)/3+1
	for _, k := range known {
		if d := editDistance(word, k); d <= least && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(b)]
}
