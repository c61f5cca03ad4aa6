package luabind

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	lua "github.com/yuin/gopher-lua"
)

// maxJSONValues bounds what one text may become: a table costs a hundred times the two bytes that ask for it.
const maxJSONValues = 1 << 20

// decodeJSON reads one JSON value; integers beyond 2^53 become strings, null json.null. Of a key that comes twice the last value
// counts, a byte order mark is passed over, an escaped half of a surrogate pair becomes U+FFFD (sites cut emoji in two).
// Anything else that RFC 8259 does not allow is an error that says at which byte.
func (v *vm) decodeJSON(b []byte) (lua.LValue, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("json: not UTF-8 at byte %d", invalidUTF8(string(b)))
	}
	d := jsonDecoder{
		L:   v.L,
		dec: jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	lv, err := d.value()
	if err != nil {
		return nil, d.explain(err)
	}
	if _, err := d.dec.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("json: something follows the value at byte %d", d.dec.InputOffset())
	}
	return lv, nil
}

type jsonDecoder struct {
	L      *lua.LState
	dec    *jsontext.Decoder
	depth  int
	values int
}

var (
	errJSONNested = fmt.Errorf("nested deeper than %d", maxJSONDepth)
	errJSONMany   = fmt.Errorf("more than %d values", maxJSONValues)
	errJSONRange  = errors.New("a number is out of range")
)

// explain puts the place into an error.
func (d *jsonDecoder) explain(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("json: %w at byte %d", syntax.Err, syntax.ByteOffset)
	case errors.Is(err, io.EOF):
		return errors.New("json: the text is empty")
	}
	return fmt.Errorf("json: %w at byte %d", err, d.dec.InputOffset())
}

func (d *jsonDecoder) value() (lua.LValue, error) {
	if err := d.count(); err != nil {
		return nil, err
	}
	tok, err := d.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '"':
		return lua.LString(tok.String()), nil
	case '0':
		return jsonNumber(tok.String())
	case 't', 'f':
		return lua.LBool(tok.Bool()), nil
	case 'n':
		return jsonNull, nil
	}
	if d.depth == maxJSONDepth {
		return nil, errJSONNested
	}
	d.depth++
	defer func() { d.depth-- }()
	if tok.Kind() == '[' {
		return d.list()
	}
	return d.object()
}

// count ends a text that asks for too much, and any text once the script's time or memory is used up.
func (d *jsonDecoder) count() error {
	if d.values++; d.values > maxJSONValues {
		return errJSONMany
	}
	if ctx := d.L.Context(); ctx != nil && d.values%1024 == 0 {
		return ctx.Err()
	}
	return nil
}

func (d *jsonDecoder) list() (lua.LValue, error) {
	t := d.L.CreateTable(4, 0)
	t.Metatable = jsonArray
	for d.dec.PeekKind() != ']' {
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		t.Append(v)
	}
	_, err := d.dec.ReadToken()
	return t, err
}

func (d *jsonDecoder) object() (lua.LValue, error) {
	t := d.L.CreateTable(0, 8)
	for d.dec.PeekKind() != '}' {
		name, err := d.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // the token does not outlive the next read
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		t.RawSetString(key, v)
	}
	_, err := d.dec.ReadToken()
	return t, err
}

// jsonNumber keeps the digits of integers that a Lua number would change.
func jsonNumber(text string) (lua.LValue, error) {
	const exact = 1 << 53
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && i >= -exact && i <= exact {
		return lua.LNumber(i), nil
	}
	if isDigits(text) {
		return lua.LString(text), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errJSONRange
	}
	return lua.LNumber(f), nil
}

// isDigits reports whether a JSON number has neither fraction nor exponent.
func isDigits(number string) bool {
	for i := 0; i < len(number); i++ {
		if c := number[i]; (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
