package luabind

import (
	"errors"

	lua "github.com/yuin/gopher-lua"
)

// encodeJSON writes a Lua value as JSON: keys sorted, & < > not escaped, whole numbers without a fraction. A cycle, a function,
// a userdata, NaN, an infinity, bytes that are not UTF-8 and a table with mixed keys are errors that name the path to them.
func (v *vm) encodeJSON(lv lua.LValue) ([]byte, error) { return nil, errors.New("stub") }

// decodeJSON reads one JSON value; integers beyond 2^53 become strings, null json.null.
func (v *vm) decodeJSON(b []byte) (lua.LValue, error) { return nil, errors.New("stub") }
