package database

import (
	"errors"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// mysqlRefusals are MySQL's and MariaDB's errors about a value: null, duplicate, range, cut, time, wrong, long, foreign key, division,
// JSON, check.
var mysqlRefusals = numbers(1022, 1048, 1062, 1169, 1216, 1217, 1264, 1265, 1292, 1366, 1367, 1406, 1411, 1451, 1452, 1525, 1557, 1586, 1644, 1690, 1761, 3140, 3156, 3819, 3903, 4025)

// mysqlMistakes are those about a statement that can never run: syntax, empty, number of parameters.
var mysqlMistakes = numbers(1064, 1065, 1210, 1149, 1295)

func numbers(list ...uint16) map[uint16]bool {
	m := map[uint16]bool{}
	for _, n := range list {
		m[n] = true
	}
	return m
}

// RefusesValues reports whether a statement failed for the values that it was given, so that it will fail with them each time: they
// break a constraint, do not fit their column or are of another type. After any other error the same may succeed later.
func RefusesValues(err error) bool {
	var my *mysql.MySQLError
	var pg *pgconn.PgError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &my):
		return mysqlRefusals[my.Number] || strings.Contains(my.Message, "max_allowed_packet") // 1105 and 1153: a value that is too large
	case errors.Is(err, mysql.ErrPktTooLarge):
		return true
	case errors.As(err, &pg):
		return strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23") || pg.Code == "54000" || pg.Code == "P0001"
	case errors.As(err, &lite):
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
			return true
		}
	}
	return false
}

// IsMistake reports whether a statement is wrong in itself: its syntax, or the number of its parameters.
func IsMistake(err error) bool {
	var my *mysql.MySQLError
	var pg *pgconn.PgError
	var lite *sqlite.Error
	switch {
	case errors.As(err, &my):
		return mysqlMistakes[my.Number]
	case errors.As(err, &pg):
		return pg.Code == "42601" || pg.Code == "42P02" || pg.Code == "08P01" && !fatal(pg)
	case errors.As(err, &lite):
		return lite.Code()&0xff == sqlite3.SQLITE_ERROR && strings.Contains(lite.Error(), "syntax error") ||
			strings.Contains(lite.Error(), "incomplete input")
	case err == nil:
		return false
	}
	text := err.Error() // database/sql and the drivers have no type for these
	return strings.Contains(text, "expected ") && strings.Contains(text, "arguments, got") || strings.Contains(text, "missing argument with index")
}
