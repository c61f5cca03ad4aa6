package database_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"luacrawl/engine/database"
)

// TestKindOf has what servers say that a test cannot bring about; luabind's TestSQLFailures asks real ones.
func TestKindOf(t *testing.T) {
	t.Parallel()
	my := func(n uint16, text string) error { return &mysql.MySQLError{Number: n, Message: text} }
	pg := func(code string) error { return &pgconn.PgError{Code: code} }
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
	}
}
