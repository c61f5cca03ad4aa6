package luabind

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// maxJSONSize bounds one encoded value, since a few tables that hold each other many times over can stand for any amount of text.
const maxJSONSize = 16 << 20

// maxJSONTables bounds the tables in one encoded value, and so the time that it takes, for the same reason.
const maxJSONTables = 1 << 18

// appendJSON writes a Lua value as JSON: keys sorted, & < > not escaped, whole numbers without a fraction. A cycle, a function,
// a userdata, NaN, an infinity, bytes that are not UTF-8 and a table with mixed keys are errors that name the path to them
// from root, what the value is called ("item.price is NaN").
func appendJSON(dst []byte, root string, lv lua.LValue) ([]byte, error) {
	e := jsonEncoders.Get().(*jsonEncoder)
	defer e.release()
	if reason := e.value(lv); reason != nil {
		return dst, fmt.Errorf("%s %w", e.path(root), reason)
	}
	return appendText(dst, asText(e.buf)), nil
}

var jsonEncoders = sync.Pool{New: func() any { return new(jsonEncoder) }}

// jsonEncoder writes one value. Where it stops at an error, open leads to the place.
type jsonEncoder struct {
	buf     []byte
	open    []jsonFrame // tables being written, outermost first
	entries []jsonEntry // sorted keys of all open maps, one after the other
	tables  int         // written so far
}

type jsonFrame struct {
	table *lua.LTable
	key   string // the entry being written, in a map
	index int    // the same in a list; 0 in a map
}

type jsonEntry struct {
	key   string
	value lua.LValue
}

var (
	errJSONCycle = errors.New("contains itself; give it the fields you want instead of the whole table")
	errJSONDepth = fmt.Errorf("is nested deeper than %d tables", maxJSONDepth)
	errJSONTable = fmt.Errorf("holds more than %d tables", maxJSONTables)
	errJSONSize  = fmt.Errorf("is larger than %d MB as JSON; keep less, or emit it in parts", maxJSONSize>>20)
)

// pop forgets the innermost table, whose entries start at base.
func (e *jsonEncoder) pop(base int) {
	last := len(e.open) - 1
	clear(e.open[last:])
	clear(e.entries[base:])
	e.open, e.entries = e.open[:last], e.entries[:base]
}

// release forgets what an error left open and keeps buffers of ordinary size for the next value.
func (e *jsonEncoder) release() {
	clear(e.open)
	clear(e.entries)
	e.open, e.entries, e.tables = e.open[:0], e.entries[:0], 0
	if e.buf = e.buf[:0]; cap(e.buf) > 1<<20 || cap(e.entries) > 1<<12 {
		return
	}
	jsonEncoders.Put(e)
}

func (e *jsonEncoder) value(lv lua.LValue) error {
	switch x := lv.(type) {
	case lua.LString:
		return e.string(string(x))
	case lua.LNumber:
		return e.number(float64(x))
	case lua.LBool:
		e.buf = strconv.AppendBool(e.buf, bool(x))
	case *lua.LNilType:
		e.buf = append(e.buf, "null"...)
	case *lua.LTable:
		return e.table(x)
	case *lua.LUserData:
		if x != jsonNull {
			return errors.New("is a userdata (a request, response or selection); take the text or fields you want of it")
		}
		e.buf = append(e.buf, "null"...)
	default:
		return fmt.Errorf("is a %s; strings, numbers, true, false and tables of them can be kept", lv.Type())
	}
	return nil
}

// number writes a whole number with all its digits up to 1e21, where other JSON writers change to exponents too.
func (e *jsonEncoder) number(f float64) error {
	const exact = 1 << 53
	switch {
	case f >= -exact && f <= exact && f == math.Trunc(f):
		e.buf = strconv.AppendInt(e.buf, int64(f), 10)
	case math.IsNaN(f):
		return errors.New("is NaN, which JSON has not; leave it out, or use json.null")
	case math.IsInf(f, 0):
		return errors.New("is infinite, which JSON has not; leave it out, or use json.null")
	case math.Abs(f) < 1e21 && f == math.Trunc(f):
		e.buf = strconv.AppendFloat(e.buf, f, 'f', 0, 64)
	case math.Abs(f) >= 1e21 || math.Abs(f) < 1e-6:
		e.buf = strconv.AppendFloat(e.buf, f, 'e', -1, 64)
	default:
		e.buf = strconv.AppendFloat(e.buf, f, 'f', -1, 64)
	}
	return nil
}

func (e *jsonEncoder) table(t *lua.LTable) error {
	if len(e.open) == maxJSONDepth {
		return e.tooDeep()
	}
	if e.tables++; e.tables > maxJSONTables {
		return errJSONTable
	}
	n, base := t.MaxN(), len(e.entries)
	if err := e.collect(t, n); err != nil {
		return err
	}
	e.open = append(e.open, jsonFrame{table: t})
	var err error
	switch {
	case n > 0:
		err = e.list(t, n)
	case len(e.entries) > base:
		err = e.object(base)
	case t.Metatable == jsonArray:
		e.buf = append(e.buf, "[]"...)
	default:
		e.buf = append(e.buf, "{}"...)
	}
	if err != nil {
		return err // open is left as it is: the path to the error
	}
	e.pop(base)
	return nil
}

// tooDeep says why tables nest so deep. A cycle is looked for only here, where every cycle ends.
func (e *jsonEncoder) tooDeep() error {
	seen := make(map[*lua.LTable]bool, len(e.open))
	for i := range e.open {
		if seen[e.open[i].table] {
			e.open = e.open[:i]
			return errJSONCycle
		}
		seen[e.open[i].table] = true
	}
	return errJSONDepth
}

// collect appends the entries of a map to e.entries, or refuses a table that is neither a map nor a list of n.
func (e *jsonEncoder) collect(t *lua.LTable, n int) error {
	if n > 0 {
		return listOnly(t, n)
	}
	var err error
	t.ForEach(func(k, v lua.LValue) {
		if key, ok := k.(lua.LString); ok {
			e.entries = append(e.entries, jsonEntry{string(key), v})
		} else {
			err = badKey(k)
		}
	})
	return err
}

// listOnly refuses a list of n that has other keys too.
func listOnly(t *lua.LTable, n int) error {
	switch k, _ := t.Next(lua.LNumber(n)); k := k.(type) {
	case *lua.LNilType:
		return nil
	case lua.LString:
		return fmt.Errorf("has list entries and the key %q; use one or the other", clip(string(k)))
	default:
		return badKey(k)
	}
}

func badKey(k lua.LValue) error {
	if n, ok := k.(lua.LNumber); ok {
		return fmt.Errorf("has the number key %s outside of a list 1..n; use tostring(key) for a map", n)
	}
	return fmt.Errorf("has a %s as a key; keys are strings", k.Type())
}

func (e *jsonEncoder) list(t *lua.LTable, n int) error {
	at := len(e.open) - 1
	e.buf = append(e.buf, '[')
	for i := 1; i <= n; i++ {
		if i > 1 {
			e.buf = append(e.buf, ',')
		}
		e.open[at].index = i
		v := t.RawGetInt(i)
		if v == lua.LNil {
			return fmt.Errorf("is nil, a hole in a list of %d; use json.null, or string keys for a map", n)
		}
		if err := e.value(v); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, ']')
	return e.checkSize()
}

// object writes the entries from base on.
func (e *jsonEncoder) object(base int) error {
	at := len(e.open) - 1
	own := e.entries[base:]
	slices.SortFunc(own, func(a, b jsonEntry) int { return strings.Compare(a.key, b.key) })
	e.buf = append(e.buf, '{')
	for i := range own {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.open[at].key = own[i].key
		if err := e.string(own[i].key); err != nil {
			return fmt.Errorf("(a key) %w", err)
		}
		e.buf = append(e.buf, ':')
		if err := e.value(own[i].value); err != nil {
			return err
		}
	}
	e.buf = append(e.buf, '}')
	return e.checkSize()
}

func (e *jsonEncoder) checkSize() error {
	if len(e.buf) > maxJSONSize {
		return errJSONSize
	}
	return nil
}
