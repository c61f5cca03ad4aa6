package database

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"regexp"
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
	// changed since it was read, refused at COMMIT (by a cluster, say), lock wait, deadlock, table changed, to be prepared anew, NOWAIT
	mysqlBusy = numbers(1020, 1180, 1205, 1213, 1412, 1615, 3572)
	// disk full, out of memory, connections, the user or the database refused, shutdown, table full, host blocked, host not allowed, threads,
	// network, user's connections, another login, read-only, password to be changed, password expired, killed, account locked, idle for too long
	mysqlUnavailable = numbers(1021, 1037, 1038, 1040, 1041, 1044, 1045, 1053, 1114, 1129, 1130, 1135, 1152, 1158, 1159, 1160, 1161, 1184,
		1203, 1226, 1698, 1792, 1820, 1836, 1862, 1927, 3118, 4031)
)

// mysqlDiskFull is what an error of the storage engine or of a file says of a full disk, in MySQL's form and in MariaDB's.
var mysqlDiskFull = regexp.MustCompile(`(?:[Ee]rror|[Ee]rrno:|[Ee]rrcode:) 28\b`)

// KindOf tells what sort of failure an error of this package is, and the code that the database gave it: MySQL's number, PostgreSQL's
// SQLSTATE, SQLite's extended result code; "" when it gave none.
func KindOf(err error) (kind Kind, code string) {
	var my *mysql.MySQLError
	var pg *pgconn.PgError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &my):
		kind, code = kindOfMySQL(my, err), strconv.Itoa(int(my.Number))
	case errors.As(err, &pg):
		kind, code = kindOfPostgres(pg), pg.Code
	case errors.As(err, &lite):
		kind, code = kindOfSQLite(lite.Code()), strconv.Itoa(lite.Code())
	case disconnected(err), errors.Is(err, ErrTooMany), errors.Is(err, ErrClosed):
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

// kindOfMySQL has e and the whole error, which tells whether e came from connecting.
func kindOfMySQL(e *mysql.MySQLError, err error) Kind {
	var connecting *connectError
	switch {
	case mysqlDuplicates[e.Number]:
		return Duplicate
	case mysqlBusy[e.Number]:
		return Busy
	case mysqlUnavailable[e.Number]:
		return Unavailable
	}
	away := false
	switch e.Number {
	case 1026, 1030: // writing a file, the storage engine
		away = mysqlDiskFull.MatchString(e.Message)
	case 1047: // an unknown command, or a node of a cluster that is not ready
		away = strings.Contains(e.Message, "WSREP")
	case 1049: // no such database: its own, or a mistyped one in a statement
		away = errors.As(err, &connecting)
	case 1290: // an option forbids it
		away = strings.Contains(e.Message, "read-only")
	}
	if away {
		return Unavailable
	}
	return ""
}

// kindOfPostgres goes by the classes of SQLSTATE in the manual's appendix A.
func kindOfPostgres(e *pgconn.PgError) Kind {
	switch e.Code {
	case "23505":
		return Duplicate
	case "40001", "40P01", "55P03", "57014": // serialization, deadlock, lock not available, statement_timeout or cancelled
		return Busy
	case "0A000": // not supported, or a table that has changed since its statement was prepared, which is prepared anew next time
		if e.Routine == "RevalidateCachedQuery" {
			return Busy
		}
		return ""
	case "25006", "57P01", "57P02", "57P03", "57P05", "3D000": // read-only, as after a failover; shutdown, crash, starting, idle for too long; no such database
		return Unavailable
	case "08P01": // a statement that breaks the protocol
		if !fatal(e) {
			return ""
		}
	}
	for _, class := range []string{"08", "28", "53", "58"} { // connection, login, resources, the system below
		if strings.HasPrefix(e.Code, class) {
			return Unavailable
		}
	}
	return ""
}

// fatal reports whether the server ended the connection. PgBouncer says so with 08P01 whatever was wrong, and without the severity in English.
func fatal(e *pgconn.PgError) bool { return cmp.Or(e.SeverityUnlocalized, e.Severity) == "FATAL" }

func kindOfSQLite(code int) Kind {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return Duplicate
	}
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL: // PROTOCOL: many begin a WAL's transaction at once
		return Busy
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY:
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
