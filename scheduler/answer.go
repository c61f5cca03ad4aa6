package scheduler

import (
	"fmt"
	"strconv"
)

// answer is the reply of a script: a list, or a single value as a list of one. err is set by the first element that is
// not what it was read as.
type answer struct {
	values []any
	err    error
}

func readAnswer(v any) answer {
	if list, ok := v.([]any); ok {
		return answer{values: list}
	}
	return answer{values: []any{v}}
}

func (a *answer) at(i int) any {
	if i >= len(a.values) {
		if a.err == nil {
			a.err = fmt.Errorf("redis script answered %d values, wanted %d", len(a.values), i+1)
		}
		return nil
	}
	return a.values[i]
}

func (a *answer) text(i int) string {
	switch v := a.at(i).(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return ""
}

func (a *answer) num(i int) int64 {
	switch v := a.at(i).(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil && a.err == nil {
			a.err = fmt.Errorf("redis script answered %.40q for a number", v)
		}
		return n
	}
	return 0
}

// texts reads an element that is a list of strings.
func (a *answer) texts(i int) []string {
	list, _ := a.at(i).([]any)
	out := make([]string, 0, len(list))
	for _, v := range list {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

// fields reads an element that is a flat list of names and values.
func (a *answer) fields(i int) map[string]string {
	list := a.texts(i)
	out := make(map[string]string, len(list)/2)
	for k := 0; k+1 < len(list); k += 2 {
		out[list[k]] = list[k+1]
	}
	return out
}
