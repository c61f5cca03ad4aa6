package database

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Kind is what sort of failure an error is, for who decides by it.
type Kind string

// The kinds of failures.
const (
	Duplicate   Kind = "duplicate"   // a row with that key is there already
	Refused     Kind = "refused"     // the values break another constraint or do not fit (RefusesValues): they will each time
	Busy        Kind = "busy"        // a lock, a deadlock or another transaction: the same may succeed at once
	Unavailable Kind = "unavailable" // the database does not answer, lets nobody in, stops, is full or takes no writes
	Failed      Kind = "failed"      // anything else: an unknown table, a missing right, too many rows
)

// The numbers of MySQL and MariaDB.
var (
	mysqlDuplicates = numbers(1022, 1062, 1169, 1557, 1586, 1859)
	mysqlBusy       = numbers(1020, 1205, 1213, 3572) // changed since it was read, lock wait, deadlock, NOWAIT
	// disk full, out of memory, connections, the user or the database refused, shutdown, table full, network, user's connections, another
	// login, read-only, killed, idle for too long
	mysqlUnavailable = numbers(1021, 1037, 1038, 1040, 1041, 1044, 1045, 1049, 1053, 1114, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1226, 1698, 1836, 1927, 4031)
)

// KindOf tells what sort of failure an error of this package is, and the code that the database gave it: MySQL's number, PostgreSQL's
// SQLSTATE, SQLite's extended result code; "" when it gave none.
func KindOf(err error) (kind Kind, code string) {
	var my *mysql.MySQLError
	var pg *pgconn.PgError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &my):
		kind, code = kindOfMySQL(my), strconv.Itoa(int(my.Number))
	case errors.As(err, &pg):
		kind, code = kindOfPostgres(pg.Code), pg.Code
	case errors.As(err, &lite):
		kind, code = kindOfSQLite(lite.Code()), strconv.Itoa(lite.Code())
	case disconnected(err):
		return Unavailable, ""
	}
	switch {
	case kind != "":
		return kind, code
	case RefusesValues(err):
		return Refused, code
	}
	return Failed, code
}

func kindOfMySQL(e *mysql.MySQLError) Kind {
	switch {
	case mysqlDuplicates[e.Number]:
		return Duplicate
	case mysqlBusy[e.Number]:
		return Busy
	case mysqlUnavailable[e.Number], e.Number == 1290 && strings.Contains(e.Message, "read-only"): // 1290: an option forbids it
		return Unavailable
	}
	return ""
}

// kindOfPostgres goes by the classes of SQLSTATE in the manual's appendix A.
func kindOfPostgres(state string) Kind {
	switch state {
	case "23505":
		return Duplicate
	case "40001", "40P01", "55P03": // serialization, deadlock, lock not available
		return Busy
	case "25006", "57P01", "57P02", "57P03", "57P05", "3D000": // read-only, as after a failover; shutdown, crash, starting, idle for too long; no such database
		return Unavailable
	case "08P01": // a statement that breaks the protocol
		return ""
	}
	for _, class := range []string{"08", "28", "53", "58"} { // connection, login, resources, the system below
		if strings.HasPrefix(state, class) {
			return Unavailable
		}
	}
	return ""
}

func kindOfSQLite(code int) Kind {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return Duplicate
	}
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return Busy
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM:
		return Unavailable
	}
	return ""
}

// disconnected reports that there was no connection to a server, or that it broke.
func disconnected(err error) bool {
	var network net.Error
	var postgres *pgconn.ConnectError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &network) || errors.As(err, &postgres) || errors.As(err, &certificate) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, pgconn.ErrConnClosed)
}
