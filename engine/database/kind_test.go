package database_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"luacrawl/engine/database"
	"luacrawl/engine/database/dbtest"
)

// TestKindOf has what servers say that a test cannot bring about; luabind's TestSQLFailures asks real ones.
func TestKindOf(t *testing.T) {
	t.Parallel()
	my := func(n uint16, text string) error { return &mysql.MySQLError{Number: n, Message: text} }
	pgOf := func(severity, code, text string) error {
		return &pgconn.PgError{Severity: severity, Code: code, Message: text}
	}
	pg := func(code string) error { return pgOf("ERROR", code, "") }
	for _, c := range []struct {
		err  error
		kind database.Kind
		code string
	}{
		{my(1040, "Too many connections"), database.Unavailable, "1040"},
		{my(1290, "running with the --read-only option"), database.Unavailable, "1290"},
		{my(1290, "running with the --secure-file-priv option"), database.Failed, "1290"},
		{my(1213, "Deadlock found"), database.Busy, "1213"},
		{my(1105, "larger than max_allowed_packet"), database.Refused, "1105"},
		{my(1146, "no such table"), database.Failed, "1146"},
		{mysql.ErrPktTooLarge, database.Refused, ""},
		{mysql.ErrInvalidConn, database.Unavailable, ""},
		{pg("53300"), database.Unavailable, "53300"},
		{pg("57P01"), database.Unavailable, "57P01"},
		{pg("28P01"), database.Unavailable, "28P01"},
		{pg("25006"), database.Unavailable, "25006"},
		{pg("08P01"), database.Failed, "08P01"},
		{pg("40P01"), database.Busy, "40P01"},
		{pg("22001"), database.Refused, "22001"},
		{pg("42501"), database.Failed, "42501"},
		{my(1129, "Host is blocked"), database.Unavailable, "1129"},
		{my(1130, "Host is not allowed to connect"), database.Unavailable, "1130"},
		{my(1792, "Cannot execute statement in a READ ONLY transaction"), database.Unavailable, "1792"},
		{my(1047, "WSREP has not yet prepared node for application use"), database.Unavailable, "1047"},
		{my(1047, "Unknown command"), database.Failed, "1047"},
		{my(1135, "Can't create a new thread"), database.Unavailable, "1135"},
		{my(1030, "Got error 28 from storage engine"), database.Unavailable, "1030"},
		{my(1030, `Got error 28 "No space left on device" from storage engine InnoDB`), database.Unavailable, "1030"},
		{my(1030, "Got error 168 from storage engine"), database.Failed, "1030"},
		{my(1026, "Error writing file '/tmp/MY' (errno: 28 - No space left on device)"), database.Unavailable, "1026"},
		{my(1026, `Error writing file '/tmp/MY' (Errcode: 28 "No space left on device")`), database.Unavailable, "1026"},
		{my(1026, "Error writing file '/tmp/MY' (errno: 2)"), database.Failed, "1026"},
		{my(1820, "You must reset your password"), database.Unavailable, "1820"},
		{my(1862, "Your password has expired"), database.Unavailable, "1862"},
		{my(3118, "Access denied. Account is locked"), database.Unavailable, "3118"},
		{my(1412, "Table definition has changed, please retry transaction"), database.Busy, "1412"},
		{my(1615, "Prepared statement needs to be re-prepared"), database.Busy, "1615"},
		{my(1180, "Got error 149 during COMMIT"), database.Busy, "1180"},
		{my(1217, "Cannot delete or update a parent row"), database.Refused, "1217"},
		{my(1451, "Cannot delete or update a parent row"), database.Refused, "1451"},
		{my(1049, "Unknown database 'nwes'"), database.Failed, "1049"},
		{pgOf("FATAL", "08P01", "server login has been failing"), database.Unavailable, "08P01"},
		{&pgconn.PgError{SeverityUnlocalized: "FATAL", Severity: "SCHWERWIEGEND", Code: "08P01"}, database.Unavailable, "08P01"},
		{&pgconn.PgError{SeverityUnlocalized: "ERROR", Severity: "FEHLER", Code: "08P01"}, database.Failed, "08P01"},
		{pg("57014"), database.Busy, "57014"},
		{&pgconn.PgError{Code: "0A000", Routine: "RevalidateCachedQuery"}, database.Busy, "0A000"},
		{pgOf("ERROR", "0A000", "LIMIT #,# syntax is not supported"), database.Failed, "0A000"},
		{database.ErrTooMany, database.Unavailable, ""},
		{database.ErrClosed, database.Unavailable, ""},
		{&net.DNSError{Err: "no such host", Name: "db.test"}, database.Unavailable, ""},
		{io.ErrUnexpectedEOF, database.Unavailable, ""},
		{driver.ErrBadConn, database.Unavailable, ""},
		{pgconn.ErrConnClosed, database.Unavailable, ""},
		{context.DeadlineExceeded, database.Unavailable, ""},
		{errors.New("the query gives more than 10000 rows"), database.Failed, ""},
	} {
		kind, code := database.KindOf(fmt.Errorf("rolled back: %w", c.err))
		if kind != c.kind || code != c.code {
			t.Errorf("%v: %s %q, want %s %q", c.err, kind, code, c.kind, c.code)
		}
		if refuses := database.RefusesValues(c.err); refuses != (kind == database.Refused) && kind != database.Duplicate {
			t.Errorf("%v: refused as %s, and by sinks %v", c.err, kind, refuses)
		}
		if kind == database.Unavailable && database.IsMistake(c.err) {
			t.Errorf("%v: it is taken for a statement that is wrong", c.err)
		}
	}
}

// TestKindOfSQLite has a file that takes no writes.
func TestKindOfSQLite(t *testing.T) {
	t.Parallel()
	p := database.NewPools()
	defer p.Close()
	file := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	if _, err := p.Exec(t.Context(), parse(t, file), "CREATE TABLE t (n int)"); err != nil {
		t.Fatal(err)
	}
	_, err := p.Exec(t.Context(), parse(t, file+"?mode=ro"), "INSERT INTO t VALUES (1)")
	if kind, code := database.KindOf(err); kind != database.Unavailable || code != "8" {
		t.Errorf("%v: %s %q", err, kind, code)
	}
}

// TestNoSuchDatabase: that the database of a DSN is not there may pass; that of a statement is mistyped.
func TestNoSuchDatabase(t *testing.T) {
	t.Parallel()
	maria := dbtest.MariaDB(t)
	p := database.NewPools()
	defer p.Close()
	for dsn, want := range map[string]database.Kind{maria.DSN("root", "", "nwes"): database.Unavailable, maria.DSN("root", "", "news"): database.Failed} {
		_, err := p.Exec(t.Context(), parse(t, dsn), "CREATE TABLE nowhere.t (n int)")
		if kind, code := database.KindOf(err); kind != want || code != "1049" {
			t.Errorf("%v: %s %q, want %s", err, kind, code, want)
		}
	}
}
