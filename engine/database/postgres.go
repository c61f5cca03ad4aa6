package database

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

var (
	keyValuePostgres = regexp.MustCompile(`(?:^|\s)(?:host|hostaddr|dbname|user|port|sslmode|service)\s*=`)
	errPostgresDSN   = errors.New("the dsn cannot be read, or a certificate that it names; write postgres://user:password@host:5432/database?sslmode=verify-full, with " + escapeHint)
)

// filesOfPostgres are the options that make the driver read files.
var filesOfPostgres = []string{"service", "servicefile", "passfile", "sslcert", "sslkey", "sslrootcert", "sslpassword"}

// parsePostgres reads a URL or libpq's host=... user=... form; TLS by sslmode, sslrootcert, sslcert and sslkey.
func parsePostgres(dsn string, confined bool) (*Source, error) {
	dsn = strings.Replace(dsn, "pgx://", "postgres://", 1)
	if confined {
		var err error
		if dsn, err = confinePostgres(dsn); err != nil {
			return nil, err
		}
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errPostgresDSN // the driver's error may quote parts of the password
	}
	if confined {
		dropForeignPassword(cfg, dsn)
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	cfg.RuntimeParams["timezone"] = "UTC"
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "luacrawl"
	}
	return &Source{
		dialect:   Postgres,
		label:     fmt.Sprintf("postgres %s:%d/%s", cfg.Host, cfg.Port, cfg.Database),
		key:       dsn,
		secrets:   []string{dsn, cfg.Password},
		connector: func(bool) (driver.Connector, error) { return stdlib.GetConnector(*cfg), nil },
	}, nil
}

// confinePostgres refuses what would read files of the host, or reach what the DSN does not name. It gives the DSN written anew, so that
// the driver reads in it what was checked here.
func confinePostgres(dsn string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Hostname() == "" || u.User.Username() == "" || u.Opaque != "" || strings.Contains(u.Hostname(), "/") {
		return "", errPostgresDSN
	}
	query := u.Query()
	for _, option := range filesOfPostgres {
		if query.Has(option) {
			return "", fmt.Errorf("a dsn in a script may not have the option %s; put the dsn into the environment and write env:NAME", option)
		}
	}
	if query.Has("host") || query.Has("hostaddr") {
		return "", errPostgresDSN
	}
	plain := url.URL{Scheme: "postgres", User: u.User, Host: u.Host, Path: u.Path, RawQuery: query.Encode()}
	return plain.String(), nil
}

// dropForeignPassword forgets a password that came from PGPASSWORD or a password file of the host.
func dropForeignPassword(cfg *pgx.ConnConfig, dsn string) {
	u, err := url.Parse(dsn)
	if err != nil {
		return
	}
	cfg.Password, _ = u.User.Password()
	if p := u.Query().Get("password"); p != "" {
		cfg.Password = p
	}
}
