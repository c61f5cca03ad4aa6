package luabind

import (
	lua "github.com/yuin/gopher-lua"

	"luacrawl/engine/database"
)

// sqlTransaction is what the function of db:transaction gets.
type sqlTransaction struct {
	source *database.Source
	tx     *database.Tx
}

// transaction is db:transaction(function(tx) ... end): what the function does with tx happens whole or not at all. It is rolled back when
// the function raises, when it returns false, or nil and a reason, when one of its statements has failed, and when the call's time is over.
// It returns what the function returns, true when that is nothing; nil and why when the database fails.
func (s *sqlLibrary) transaction(L *lua.LState) int {
	db, fn := s.checkTransaction(L)
	s.onDatabase(L, db, "transaction")
	source := db.source
	tx, err := s.v.gen.options.Databases.Begin(s.context(), source)
	if err != nil {
		return s.failed(L, source, err)
	}
	defer tx.Rollback()
	L.SetTop(0)
	L.Push(fn)
	L.Push(s.newTransaction(&sqlTransaction{source, tx}))
	s.running = source
	err = s.v.protect(L, 1, lua.MultRet)
	s.running = nil
	if err != nil {
		tx.Rollback()
		L.Error(s.v.rethrow(L, err).Object, 0)
	}
	if refuses(L) {
		return L.GetTop()
	}
	if err := tx.Commit(); err != nil {
		return s.failed(L, source, err)
	}
	if L.GetTop() == 0 {
		L.Push(lua.LTrue)
	}
	return L.GetTop()
}

func (s *sqlLibrary) checkTransaction(L *lua.LState) (*sqlDatabase, *lua.LFunction) {
	ud, _ := L.Get(1).(*lua.LUserData)
	var db *sqlDatabase
	if ud != nil {
		db, _ = ud.Value.(*sqlDatabase)
	}
	if db == nil {
		L.RaiseError("transaction is called with a colon, as in db:transaction(function(tx) ... end)")
	}
	fn, ok := L.Get(2).(*lua.LFunction)
	if !ok {
		L.RaiseError("transaction needs a function, which gets the transaction, got %s", L.Get(2).Type())
	}
	if s.running != nil {
		L.RaiseError("a transaction inside of a transaction; do all with the tx of the outer one")
	}
	return db, fn
}

// refuses reports whether the function's results, which are all of the stack, say to roll back.
func refuses(L *lua.LState) bool {
	return L.GetTop() > 0 && (L.Get(1) == lua.LFalse || L.Get(1) == lua.LNil && L.Get(2) != lua.LNil)
}

func (s *sqlLibrary) newTransaction(tx *sqlTransaction) *lua.LUserData {
	return &lua.LUserData{Value: tx, Metatable: s.v.metatable("luacrawl.sql.transaction", func() *lua.LTable {
		return s.methods("transaction", map[string]lua.LGFunction{"exec": s.exec, "query": s.query, "query_one": s.queryOne})
	})}
}
