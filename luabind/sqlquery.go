package luabind

import (
	"math"
	"strconv"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine/database"
)

// maxSQLRows is how many rows db:query gives at most.
const maxSQLRows = 10_000

// maxSQLBytes bounds the rows of one query.
const maxSQLBytes = 16 << 20

// exec is db:exec(statement, ...): a table of affected, how many rows it has changed, and last_id, the automatic key of the new row (nil
// on PostgreSQL: use RETURNING and query_one). A failure of the database gives what failed does.
func (s *sqlLibrary) exec(L *lua.LState) int {
	on := s.session(L, "exec")
	statement, args := s.statement(L, "exec")
	r, err := on.exec(s.context(), statement, args...)
	if err != nil {
		return s.failed(L, on.source, err)
	}
	t := L.CreateTable(0, 2)
	t.RawSetString("affected", lua.LNumber(r.Affected))
	if r.LastID != 0 {
		t.RawSetString("last_id", integerValue(r.LastID))
	}
	L.Push(t)
	return 1
}

// query is db:query(statement, ...): a list of rows, each a table of values by the names of the columns; NULL is nil. Integers beyond 2^53
// and decimal numbers are strings, times RFC 3339 in UTC. More than 10,000 rows, or 16 MB, are a failure.
func (s *sqlLibrary) query(L *lua.LState) int {
	on := s.session(L, "query")
	statement, args := s.statement(L, "query")
	rows, err := on.query(s.context(), database.Limit{Rows: maxSQLRows, Bytes: maxSQLBytes}, statement, args...)
	if err != nil {
		return s.failed(L, on.source, err)
	}
	s.v.charge(L, rows.Size)
	list := L.CreateTable(len(rows.Values), 0)
	list.Metatable = jsonArray
	for _, values := range rows.Values {
		list.Append(rowTable(L, rows.Columns, values))
	}
	L.Push(list)
	return 1
}

// queryOne is db:query_one(statement, ...): the first row, or nil when there is none.
func (s *sqlLibrary) queryOne(L *lua.LState) int {
	on := s.session(L, "query_one")
	statement, args := s.statement(L, "query_one")
	rows, err := on.query(s.context(), database.Limit{Rows: 1, Bytes: maxSQLBytes, Cut: true}, statement, args...)
	if err != nil {
		return s.failed(L, on.source, err)
	}
	if len(rows.Values) == 0 {
		L.Push(lua.LNil)
		return 1
	}
	s.v.charge(L, rows.Size)
	L.Push(rowTable(L, rows.Columns, rows.Values[0]))
	return 1
}

func rowTable(L *lua.LState, columns []string, values []any) *lua.LTable {
	t := L.CreateTable(0, len(columns))
	for i, name := range columns {
		if v := sqlValue(values[i]); v != lua.LNil {
			t.RawSetString(name, v)
		}
	}
	return t
}

func sqlValue(v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case int64:
		return integerValue(v)
	case uint64:
		if v <= exact {
			return lua.LNumber(v)
		}
		return lua.LString(strconv.FormatUint(v, 10))
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	}
	return lua.LNil
}

// integerValue keeps the digits of what a Lua number would change, as json.decode does.
func integerValue(i int64) lua.LValue {
	if i >= -exact && i <= exact {
		return lua.LNumber(i)
	}
	return lua.LString(strconv.FormatInt(i, 10))
}

// statement is the text of a statement, the second argument, and its parameters behind it.
func (s *sqlLibrary) statement(L *lua.LState, method string) (string, []any) {
	text, ok := L.Get(2).(lua.LString)
	if !ok {
		L.RaiseError("%s needs a statement as a string, got %s", method, L.Get(2).Type())
	}
	var args []any
	for n := 3; n <= L.GetTop(); n++ {
		args = append(args, sqlArgument(L, method, n))
	}
	return string(text), args
}

// sqlArgument is a parameter: nil and json.null are NULL, whole numbers integers, strings text, or bytes when they are not UTF-8.
func sqlArgument(L *lua.LState, method string, n int) any {
	switch x := L.Get(n).(type) {
	case *lua.LNilType:
		return nil
	case lua.LBool:
		return bool(x)
	case lua.LNumber:
		f := float64(x)
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			L.RaiseError("%s: parameter %d is %s, which databases have not", method, n-2, appendNumber(nil, f))
		case f == math.Trunc(f) && math.Abs(f) <= exact:
			return int64(f)
		}
		return f
	case lua.LString:
		if !utf8.ValidString(string(x)) {
			return []byte(x)
		}
		return string(x)
	case *lua.LUserData:
		if x == jsonNull {
			return nil
		}
	case *lua.LTable:
		L.RaiseError("%s: parameter %d is a table; give its values one by one, or json.encode it", method, n-2)
	}
	L.RaiseError("%s: parameter %d is a %s; parameters are strings, numbers, true, false and nil", method, n-2, L.Get(n).Type())
	return nil
}
