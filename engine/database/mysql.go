package database

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// connectTimeout is how long one attempt to connect may take, unless the DSN says.
const connectTimeout = 10 * time.Second

var errMySQLDSN = errors.New("the dsn cannot be read; write mysql://user:password@host:3306/database, with " + escapeHint)

const escapeHint = "/ ? # @ : % in the password as %2F %3F %23 %40 %3A %25"

// parseMySQL reads mysql://user:password@host:port/database?options and the driver's own form, user:password@tcp(host:port)/database.
// Options are the driver's, and tls_ca: a file with the certificates to trust.
func parseMySQL(dsn string, confined bool) (*Source, error) {
	cfg, err := mysqlConfig(dsn)
	if err != nil {
		return nil, err
	}
	if cfg.DBName == "" {
		return nil, errors.New("the dsn names no database; write it behind the host: mysql://user:password@host:3306/database")
	}
	if confined && (cfg.Net != "tcp" || cfg.Params["tls_ca"] != "") {
		return nil, errors.New("a dsn in a script may name no file; put it into the environment and write env:NAME")
	}
	if err := trustCA(cfg); err != nil {
		return nil, err
	}
	settleMySQL(cfg)
	return &Source{
		dialect: MySQL,
		label:   fmt.Sprintf("mysql %s/%s", cfg.Addr, cfg.DBName),
		key:     dsn,
		secrets: []string{dsn, cfg.Passwd},
		connector: func(strict bool) (driver.Connector, error) {
			own := cfg.Clone()
			if strict {
				own.Params["sql_mode"] = "CONCAT(@@sql_mode,',STRICT_ALL_TABLES,STRICT_TRANS_TABLES')"
			}
			c, err := mysql.NewConnector(own)
			return &mysqlConnector{c}, err
		},
	}, nil
}

func mysqlConfig(dsn string) (*mysql.Config, error) {
	if nativeMySQL.MatchString(dsn) && !strings.HasPrefix(dsn, "mysql://") {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			return nil, errMySQLDSN
		}
		return cfg, nil
	}
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" {
		return nil, errMySQLDSN
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = "3306"
	}
	addr := net.JoinHostPort(host, port)
	cfg, err := mysql.ParseDSN("tcp(" + addr + ")/?" + u.Query().Encode()) // the host belongs to tls=true; no / may follow
	if err != nil {
		return nil, errors.New("the dsn has an option behind ? that the MySQL driver cannot read; tls=true, tls_ca=FILE and timeout=10s are such options")
	}
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.Net, cfg.Addr, cfg.DBName = "tcp", addr, strings.TrimPrefix(u.Path, "/")
	return cfg, nil
}

// settleMySQL sets what luacrawl relies on: times in UTC, packets as large as the server takes, no files, one statement at a time.
func settleMySQL(cfg *mysql.Config) {
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = connectTimeout
	}
	cfg.ParseTime, cfg.Loc = true, time.UTC
	cfg.Params["time_zone"] = "'+00:00'"
	cfg.MaxAllowedPacket = 0
	cfg.AllowAllFiles, cfg.MultiStatements, cfg.InterpolateParams = false, false, false
	cfg.Logger = &mysql.NopLogger{}
}

// trustCA takes the option tls_ca out of the DSN and trusts the certificates in that file.
func trustCA(cfg *mysql.Config) error {
	file, ok := cfg.Params["tls_ca"]
	if !ok {
		return nil
	}
	delete(cfg.Params, "tls_ca")
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("tls_ca of the dsn: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("tls_ca of the dsn: the file %s holds no certificate in PEM form", file)
	}
	host, _, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		host = cfg.Addr
	}
	cfg.TLS = &tls.Config{RootCAs: roots, ServerName: host}
	return nil
}

// mysqlConnector marks the errors of connecting.
type mysqlConnector struct{ driver.Connector }

// Connect makes a connection; its errors are *connectError.
func (m *mysqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := m.Connector.Connect(ctx)
	if err != nil {
		return nil, &connectError{err}
	}
	return c, nil
}

// connectError is an error that no statement has caused.
type connectError struct{ error }

func (e *connectError) Unwrap() error { return e.error }
