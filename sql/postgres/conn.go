// Package postgres owns the control plane: the schema in migrate/, the statements in query/, and the Go types of their
// parameters and rows.
//
// Connections act as role answerscope_service, with any login, so that row-level security applies to them too.
// PostgreSQL refuses texts with a zero byte.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/answerscope/answerscope/internal/dialer"
)

const (
	ownerRole   = "answerscope_owner"
	serviceRole = "answerscope_service"

	connectTimeout = 5 * time.Second
	hostTimeout    = time.Second // for a host that is switched off, and refuses nothing
)

// Config holds the address of the server and the use of it.
type Config struct {
	DSN      string // postgres://user:password@host:5432/database, or key=value pairs
	MaxConns int    // connections at once
	Actor    string // the author of changes in the audit log; "": the login
	Command  string // of this process, for RunningCommands, such as "pipeline"
}

// DefaultConfig lacks only the DSN.
func DefaultConfig() Config {
	return Config{MaxConns: 8}
}

// Validate returns every mistake of c.
func (c Config) Validate() error {
	var errs []error
	if _, err := pgxpool.ParseConfig(c.DSN); err != nil || c.DSN == "" {
		errs = append(errs, errors.New("postgres dsn: want postgres://user:password@host:port/database"))
	}
	if c.MaxConns < 1 {
		errs = append(errs, fmt.Errorf("postgres max conns %d: want at least 1", c.MaxConns))
	}
	return errors.Join(errs...)
}

// DB is a pool of connections that act as answerscope_service. It is safe for concurrent use.
type DB struct {
	*pgxpool.Pool
	sinkLocks       *pgxpool.Pool // connections that hold a shared sink lock, so that Pool stays free for statements
	sinkLockTimeout time.Duration // of every question about the sink lock
	queueLimit      trackingQueue // of an organization
}

// Close closes every connection once it is idle.
func (db *DB) Close() {
	db.sinkLocks.Close()
	db.Pool.Close()
}

// Open connects and checks that the server answers and its roles exist.
func Open(ctx context.Context, c Config) (*DB, error) {
	db, err := OpenLater(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := db.Ping(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("ping postgres: %w", err)
	}
	return db, nil
}

// OpenLater is Open without the check: the first statement connects, and returns an error of the server or its roles.
func OpenLater(ctx context.Context, c Config) (*DB, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("parse postgres dsn: %w", err)
	}
	cfg.MaxConns = int32(c.MaxConns)
	cfg.ConnConfig.ConnectTimeout = connectTimeout
	cfg.ConnConfig.DialFunc = dialer.New(hostTimeout, dialer.Silence).DialContext
	nameApplication(cfg.ConnConfig, c.Command)
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		readTimesAsUTC(conn)
		if err := become(ctx, conn, serviceRole); err != nil || c.Actor == "" {
			return err
		}
		_, err := conn.Exec(ctx, "SELECT set_config('answerscope.actor', $1, false)", c.Actor)
		return err
	}
	// An address may have led to a standby, before it led to the primary.
	cfg.AfterRelease = func(conn *pgx.Conn) (keep bool) {
		return conn.PgConn().ParameterStatus("in_hot_standby") != "on"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	cfg = cfg.Copy()
	cfg.MaxConns = maxSharedLocks
	maps.Copy(cfg.ConnConfig.RuntimeParams, lockSession(sharedLockTimeout))
	sinkLocks, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	return &DB{pool, sinkLocks, 10 * time.Second, queueLimit}, nil
}

// Reach checks that the server answers on the pool and accepts a new connection: a stopped server, or one behind a
// firewall, may do only the first for a while.
func (db *DB) Reach(ctx context.Context) error {
	if err := db.Ping(ctx); err != nil {
		return fmt.Errorf("ping postgres: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, db.Config().ConnConfig)
	if sqlState(err) == "53300" {
		return nil // too many connections, and the pool has its own
	}
	if err != nil {
		return fmt.Errorf("connect to postgres: %w", err)
	}
	return closeConn(conn)
}

// openConn opens a connection outside the pool, for a lock or a LISTEN that lasts as long as the connection. Its
// statements wait for locks at most for lockTimeout; 0 is without limit.
func (db *DB) openConn(ctx context.Context, lockTimeout time.Duration) (*pgx.Conn, error) {
	cfg := db.Config()
	maps.Copy(cfg.ConnConfig.RuntimeParams, lockSession(lockTimeout))
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect to postgres: %w", err)
	}
	if err := cfg.AfterConnect(ctx, conn); err != nil {
		return nil, errors.Join(err, closeConn(conn))
	}
	return conn, nil
}

// lockSession returns the settings of a session that holds a lock: it does not end when it is idle, and the server ends
// it, and its locks, within 30 s of losing this machine.
func lockSession(lockTimeout time.Duration) map[string]string {
	return map[string]string{
		"lock_timeout":            strconv.FormatInt(lockTimeout.Milliseconds(), 10),
		"idle_session_timeout":    "0",
		"tcp_keepalives_idle":     "10",
		"tcp_keepalives_interval": "10",
		"tcp_keepalives_count":    "2",
	}
}

// closeConn closes a connection, by force if that takes longer than a second.
func closeConn(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return conn.Close(ctx)
}

// nameApplication puts our name before one that the address may have.
func nameApplication(cfg *pgx.ConnConfig, command string) {
	name := strings.TrimSpace("answerscope " + command)
	if addition := cfg.RuntimeParams["application_name"]; addition != "" {
		name += "; " + addition
	}
	cfg.RuntimeParams["application_name"] = name
}

func readTimesAsUTC(conn *pgx.Conn) {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
}

// become sets the role of a connection.
func become(ctx context.Context, conn *pgx.Conn, role string) error {
	_, err := conn.Exec(ctx, "SET ROLE "+role)
	switch sqlState(err) {
	case "22023":
		return fmt.Errorf("become %s: the role does not exist; run `answerscope migrate`: %w", role, err)
	case "42501":
		login := conn.Config().User
		return fmt.Errorf("become %s: the login %s may not; run `answerscope migrate` with it, or GRANT %s TO %q: %w",
			role, login, role, login, err)
	}
	return wrap(err, "become %s", role)
}
