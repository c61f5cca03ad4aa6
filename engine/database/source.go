// Package database reaches MySQL, MariaDB, PostgreSQL and SQLite through database/sql, for sinks and for scripts.
package database

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
)

// Source is a database that can be reached. It keeps its DSN to itself: whatever prints it shows Label.
type Source struct {
	dialect   Dialect
	label     string
	key       string                                      // tells sources apart; holds the password
	secrets   []string                                    // what no error may show
	connector func(strict bool) (driver.Connector, error) // makes connections
}

// Options are how a DSN is read. The zero value reads one of an operator, without an environment.
type Options struct {
	Driver string                           // mysql, mariadb, postgres or sqlite; "" takes it from the DSN
	Env    func(name string) (string, bool) // the variables that may be read; nil for none
	// Confined is for a DSN in a script: it reaches no file outside of the working folder, and sends no password that it does not hold.
	// A DSN out of the environment is an operator's and not confined.
	Confined bool
}

// dialects by the names that people give them, in DSNs and as driver.
var dialects = map[string]Dialect{
	"mysql": MySQL, "mariadb": MySQL,
	"postgres": Postgres, "postgresql": Postgres, "pgx": Postgres,
	"sqlite": SQLite, "sqlite3": SQLite, "file": SQLite,
}

var schemePattern = regexp.MustCompile(`^([a-z0-9]+):`)

// Parse reads a DSN: mysql://, mariadb:// or postgres://user:password@host:port/database?option=value, sqlite:file.db, the drivers' own
// forms when o.Driver says which, or env:NAME or $NAME for one in the environment. It connects to nothing. Its errors do not hold the DSN.
func Parse(dsn string, o Options) (*Source, error) {
	dialect, err := dialectNamed(o.Driver)
	if err != nil {
		return nil, err
	}
	if name, ok := EnvName(dsn); ok {
		if dsn, err = fromEnv(name, o.Env); err != nil {
			return nil, err
		}
		o.Confined = false
	}
	if dsn == "" {
		return nil, errors.New("the dsn is empty")
	}
	said := dialectOf(dsn)
	switch {
	case dialect == "" && said == "":
		return nil, errors.New("the dsn does not say which database it is; write mysql://, postgres:// or sqlite: before it")
	case dialect == "":
		dialect = said
	case said != "" && said != dialect:
		return nil, fmt.Errorf("the dsn is one of %s, and the driver is %s; leave the driver out, or make them agree", said, dialect)
	}
	switch dialect {
	case MySQL:
		return parseMySQL(dsn, o.Confined)
	case Postgres:
		return parsePostgres(dsn, o.Confined)
	}
	return parseSQLite(dsn, o.Confined)
}

func dialectNamed(driver string) (Dialect, error) {
	if driver == "" {
		return "", nil
	}
	d, ok := dialects[strings.ToLower(driver)]
	if !ok || driver == "file" {
		return "", fmt.Errorf("driver %.50q is not known; it is one of mysql, mariadb, postgres, sqlite", driver)
	}
	return d, nil
}

var nativeMySQL = regexp.MustCompile(`@?(tcp|tcp6|unix)\([^)]*\)/`)

// dialectOf is what a DSN itself says that it is, "" when it does not.
func dialectOf(dsn string) Dialect {
	if m := schemePattern.FindStringSubmatch(dsn); m != nil && !nativeMySQL.MatchString(dsn) {
		return dialects[m[1]]
	}
	switch {
	case nativeMySQL.MatchString(dsn):
		return MySQL
	case keyValuePostgres.MatchString(dsn):
		return Postgres
	}
	return ""
}

var envName = regexp.MustCompile(`^(?:env:|\$)([A-Za-z_][A-Za-z0-9_]*)$`)

// EnvName is the variable that a DSN of the form env:NAME or $NAME is kept in.
func EnvName(dsn string) (name string, ok bool) {
	m := envName.FindStringSubmatch(dsn)
	if m == nil {
		return "", false
	}
	return m[1], true
}

func fromEnv(name string, env func(string) (string, bool)) (string, error) {
	var dsn string
	var ok bool
	if env != nil {
		dsn, ok = env(name)
	}
	switch {
	case !ok:
		return "", fmt.Errorf("the environment variable %s is not set, or may not be read here; the dsn of the database belongs into it", name)
	case strings.TrimSpace(dsn) == "":
		return "", fmt.Errorf("the environment variable %s is empty; the dsn of the database belongs into it", name)
	}
	if _, again := EnvName(dsn); again {
		return "", fmt.Errorf("the environment variable %s names another variable; it must hold the dsn itself", name)
	}
	return strings.TrimSpace(dsn), nil
}

// Dialect is the SQL that the database speaks.
func (s *Source) Dialect() Dialect { return s.dialect }

// Same reports whether both have the same DSN.
func (s *Source) Same(other *Source) bool { return other != nil && s.key == other.key }

// Label names the database in messages, without user or password: "mysql db.example:3306/news".
func (s *Source) Label() string { return s.label }

// String is Label.
func (s *Source) String() string { return s.label }

// Format writes Label whatever the verb, so that %+v does not look inside.
func (s *Source) Format(f fmt.State, _ rune) { io.WriteString(f, s.label) }

// LogValue is Label.
func (s *Source) LogValue() slog.Value { return slog.StringValue(s.label) }

// Open makes a pool of connections; it connects when it is first used. With strict, MySQL refuses values that do not fit instead of
// cutting them, whatever the server's own mode is.
func (s *Source) Open(strict bool) (*sql.DB, error) {
	c, err := s.connector(strict)
	if err != nil {
		return nil, s.Scrub(err)
	}
	return sql.OpenDB(c), nil
}

// Scrub is err with the DSN and the password taken out of its text, should a driver have put them in.
func (s *Source) Scrub(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range s.secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	if text == err.Error() {
		return err
	}
	return &scrubbed{text, err}
}

// minSecret is from how many bytes on a password is looked for in texts: shorter ones are parts of words.
const minSecret = 4

type scrubbed struct {
	text string
	err  error
}

func (s *scrubbed) Error() string { return s.text }
func (s *scrubbed) Unwrap() error { return s.err }
