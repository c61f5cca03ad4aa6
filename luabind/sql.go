package luabind

import (
	"context"
	"fmt"
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine/database"
)

func init() { modules["sql"] = sqlModule }

// sqlModule is require "sql": open.
func sqlModule(v *vm) lua.LValue {
	s := &sqlLibrary{v: v}
	return v.L.SetFuncs(v.L.NewTable(), map[string]lua.LGFunction{"open": s.open})
}

// sqlLibrary is the module in one VM.
type sqlLibrary struct {
	v       *vm
	running *database.Source // of the transaction whose function runs; nil outside of one
}

// sqlDatabase is what open returns. It has no connection: those are in the pools that all VMs share.
type sqlDatabase struct {
	dsn    string
	source *database.Source // nil until a variable of the environment is first needed
}

// open is sql.open(dsn): a database by its DSN, or by env:NAME or $NAME, the variable that holds it. It connects to nothing, so it may
// stand at the top of a file; the variable is read when the database is first used.
func (s *sqlLibrary) open(L *lua.LState) int {
	dsn, ok := L.Get(1).(lua.LString)
	if !ok {
		L.RaiseError("sql.open needs a dsn as a string, such as \"env:NEWS_DSN\" or \"mysql://user:password@host/database\", got %s", L.Get(1).Type())
	}
	db := &sqlDatabase{dsn: string(dsn)}
	if _, fromEnv := database.EnvName(db.dsn); !fromEnv {
		s.resolve(L, db)
	}
	L.Push(&lua.LUserData{Value: db, Metatable: s.v.metatable("luacrawl.sql.database", func() *lua.LTable {
		return s.methods("database", map[string]lua.LGFunction{
			"exec": s.exec, "query": s.query, "query_one": s.queryOne, "transaction": s.transaction,
		})
	})})
	return 1
}

// resolve reads the DSN. One that cannot be read, or a variable that is not there, is a mistake and raises.
func (s *sqlLibrary) resolve(L *lua.LState, db *sqlDatabase) *database.Source {
	if db.source != nil {
		return db.source
	}
	o := database.Options{Confined: true}
	if s.v.gen != nil {
		o.Env = s.v.gen.options.Env
	}
	source, err := database.Parse(db.dsn, o)
	if err != nil {
		L.RaiseError("sql.open: %s", err)
	}
	db.source = source
	return source
}

// methods is the metatable of databases and transactions.
func (s *sqlLibrary) methods(what string, functions map[string]lua.LGFunction) *lua.LTable {
	known := slices.Sorted(maps.Keys(functions))
	methods := s.v.L.SetFuncs(s.v.L.NewTable(), functions)
	methods.Metatable = protected(what+" methods", map[string]lua.LValue{
		"__index": s.v.L.NewFunction(func(L *lua.LState) int {
			key := lua.LVAsString(L.Get(2))
			raiseUnknown(L, fmt.Sprintf("a %s has no %q", what, key), key, known)
			return 0
		}),
	})
	return protected(what, map[string]lua.LValue{
		"__index":    methods,
		"__newindex": s.v.L.NewFunction(readOnly(what)),
		"__tostring": s.v.L.NewFunction(func(L *lua.LState) int {
			L.Push(lua.LString("<" + what + ">"))
			return 1
		}),
	})
}

// sqlSession is what a statement runs on: a database or a transaction.
type sqlSession struct {
	source *database.Source
	exec   func(ctx context.Context, query string, args ...any) (database.Result, error)
	query  func(ctx context.Context, limit database.Limit, query string, args ...any) (*database.Rows, error)
}

// session is the first argument of a method.
func (s *sqlLibrary) session(L *lua.LState, method string) sqlSession {
	ud, _ := L.Get(1).(*lua.LUserData)
	if ud == nil {
		L.RaiseError("%s is called with a colon, as in db:%s(...)", method, method)
	}
	switch x := ud.Value.(type) {
	case *sqlDatabase:
		return s.onDatabase(L, x, method)
	case *sqlTransaction:
		if x.tx.Ended() {
			L.RaiseError("the transaction has ended; use it only inside of the function that transaction calls")
		}
		return sqlSession{x.source, x.tx.Exec, x.tx.Query}
	}
	L.RaiseError("%s is called with a colon, as in db:%s(...)", method, method)
	return sqlSession{}
}

func (s *sqlLibrary) onDatabase(L *lua.LState, db *sqlDatabase, method string) sqlSession {
	if s.v.gen == nil || !s.v.defined {
		L.RaiseError("db:%s at the top level of a file, which runs at every load; call it in a function", method)
	}
	source, pools := s.resolve(L, db), s.v.gen.options.Databases
	if source.Same(s.running) {
		L.RaiseError("db:%s inside of a transaction of the same database, where it would wait for it; use the tx that the function gets", method)
	}
	return sqlSession{
		source: source,
		exec: func(ctx context.Context, query string, args ...any) (database.Result, error) {
			return pools.Exec(ctx, source, query, args...)
		},
		query: func(ctx context.Context, limit database.Limit, query string, args ...any) (*database.Rows, error) {
			return pools.Query(ctx, source, limit, query, args...)
		},
	}
}

// context is that of the running call, so that a query ends with callback_timeout.
func (s *sqlLibrary) context() context.Context {
	if s.v.interrupt == nil || s.v.interrupt.ctx == nil {
		return context.Background()
	}
	return s.v.interrupt.ctx
}

// failed returns nil, why, the kind of the failure (database.Kind) and the database's own code for it, nil when it gave none; or it raises:
// for a statement that is wrong in itself, and when the call must end.
func (s *sqlLibrary) failed(L *lua.LState, source *database.Source, err error) int {
	s.v.interrupt.checkContext(L)
	if database.IsMistake(err) {
		L.RaiseError("sql: %s", err)
	}
	kind, code := database.KindOf(err)
	pushError(L, fmt.Errorf("%s: %w", source.Label(), err))
	L.Push(lua.LString(kind))
	if code == "" {
		return 3
	}
	L.Push(lua.LString(code))
	return 4
}
