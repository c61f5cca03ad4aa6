package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// confinedSQLite are the options that a DSN in a script may have: the others run SQL or reach files.
var confinedSQLite = map[string]bool{"mode": true, "_busy_timeout": true, "_foreign_keys": true, "_journal_mode": true}

// parseSQLite reads sqlite:PATH, file:PATH or a plain path, with the driver's options behind a ?.
func parseSQLite(dsn string, confined bool) (*Source, error) {
	path, query, _ := strings.Cut(dsn, "?")
	escaped := false
	if rest, ok := strings.CutPrefix(path, "file:"); ok {
		path, escaped = rest, true
	} else if m := schemePattern.FindString(path); m == "sqlite:" || m == "sqlite3:" {
		path = path[len(m):]
	}
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		path = rest
	}
	if escaped {
		plain, err := url.PathUnescape(path)
		if err != nil {
			return nil, errors.New("the dsn of the SQLite file has a % that does not start an escape like %20")
		}
		path = plain
	}
	options, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("the dsn of the SQLite file has options behind ? that cannot be read; write them as name=value, joined by &")
	}
	if err := checkSQLite(path, options, confined); err != nil {
		return nil, err
	}
	if !options.Has("_busy_timeout") && !options.Has("_timeout") {
		options.Set("_busy_timeout", "5000")
	}
	if !options.Has("_txlock") {
		options.Set("_txlock", "immediate") // or else two transactions that read first may not both write
	}
	options.Set("_error_rc", "1")
	return sqliteSource(path, options)
}

func checkSQLite(path string, options url.Values, confined bool) error {
	switch {
	case path == "":
		return errors.New("the dsn names no SQLite file; write sqlite:news.db")
	case strings.Contains(path, ":memory:") || options.Get("mode") == "memory":
		return errors.New("the dsn is a database in memory, which would be gone with its connection; name a file: sqlite:news.db")
	case strings.ContainsRune(path, 0):
		return errors.New("the path of the SQLite file holds a NUL character")
	case confined && !filepath.IsLocal(path):
		return fmt.Errorf("a dsn in a script may only name a SQLite file below the working folder, not %.100q; put it into the environment and write env:NAME", path)
	}
	for name := range options {
		if confined && !confinedSQLite[name] {
			return fmt.Errorf("a dsn in a script may not have the option %.50q; put the dsn into the environment and write env:NAME", name)
		}
	}
	return nil
}

func sqliteSource(path string, options url.Values) (*Source, error) {
	name := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path) + "?" + options.Encode()
	c, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, fmt.Errorf("the dsn of the SQLite file: %w", err)
	}
	return &Source{
		dialect:   SQLite,
		label:     "sqlite " + path,
		key:       name,
		connector: func(bool) (driver.Connector, error) { return &sqliteConnector{c, path}, nil },
	}, nil
}

// sqliteConnector opens connections that reach their own file only: a statement may not attach another.
type sqliteConnector struct {
	driver.Connector
	path string
}

// Connect opens the file, and makes it when it is not there.
func (s *sqliteConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if info, err := os.Stat(filepath.Dir(s.path)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the folder of the SQLite file %s is not there; create it", s.path)
	}
	c, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	guarded, ok := c.(sqlite.AuthorizerRegisterer)
	if !ok {
		c.Close()
		return nil, errors.New("this SQLite driver cannot refuse ATTACH")
	}
	if err := guarded.RegisterAuthorizer(refuseAttach); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// refuseAttach denies what names another file. VACUUM attaches one too.
func refuseAttach(action sqlite.AuthorizerActionCode, name, _, _, _ string) sqlite.AuthorizerReturnCode {
	if action == sqlite.AuthAttach || action == sqlite.AuthPragma && strings.HasSuffix(strings.ToLower(name), "store_directory") {
		return sqlite.AuthorizerDeny
	}
	return sqlite.AuthorizerOK
}
