package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	ownerRole   = "answerscope_owner"
	serviceRole = "answerscope_service"
)

// Config says where the server is and how it is used.
type Config struct {
	DSN            string        // postgres://user:password@host:5432/database, or key=value pairs
	MaxConns       int           // connections at once
	ConnectTimeout time.Duration // for one connection
	Silence        time.Duration // for which the server may say nothing of the gate of the sinks
}

// DefaultConfig needs a DSN.
func DefaultConfig() Config {
	return Config{MaxConns: 8, ConnectTimeout: 5 * time.Second, Silence: 10 * time.Second}
}

// Validate says what is wrong with c, all at once.
func (c Config) Validate() error {
	var errs []error
	if _, err := pgxpool.ParseConfig(c.DSN); err != nil || c.DSN == "" {
		errs = append(errs, errors.New("postgres dsn: want postgres://user:password@host:port/database"))
	}
	if c.MaxConns < 1 {
		errs = append(errs, fmt.Errorf("postgres max conns %d: want at least 1", c.MaxConns))
	}
	if c.ConnectTimeout <= 0 {
		errs = append(errs, fmt.Errorf("postgres connect timeout %v: want more than 0", c.ConnectTimeout))
	}
	if c.Silence <= 0 {
		errs = append(errs, fmt.Errorf("postgres silence %v: want more than 0", c.Silence))
	}
	return errors.Join(errs...)
}

// DB is a pool of connections that act as answerscope_service. It is safe for
// concurrent use.
type DB struct {
	*pgxpool.Pool
	gate    *pgxpool.Pool // see HoldSinks
	silence time.Duration // of the gate
}

// Close closes every connection, once each was given back.
func (db *DB) Close() {
	db.gate.Close()
	db.Pool.Close()
}

// Open connects and checks that the server answers and its roles are there.
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

// OpenLater is Open for who can do without the server for a while: it connects when
// it is first asked something, and whatever is then wrong with the server or its
// roles is said there.
func OpenLater(ctx context.Context, c Config) (*DB, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	cfg, err := pgxpool.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("parse postgres dsn: %w", err)
	}
	cfg.MaxConns = int32(c.MaxConns)
	cfg.ConnConfig.ConnectTimeout = c.ConnectTimeout
	nameApplication(cfg.ConnConfig)
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		readTimesAsUTC(conn)
		return become(ctx, conn, serviceRole)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	gate, err := gatePool(ctx, cfg)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	return &DB{pool, gate, c.Silence}, nil
}

func nameApplication(cfg *pgx.ConnConfig) {
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "answerscope"
	}
}

func readTimesAsUTC(conn *pgx.Conn) {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
}

// become takes a role for the life of a connection.
func become(ctx context.Context, conn *pgx.Conn, role string) error {
	_, err := conn.Exec(ctx, "SET ROLE "+role)
	refused, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		return nil
	case ok && refused.Code == "22023":
		return fmt.Errorf("become %s: there is no such role; run `answerscope migrate`: %w", role, err)
	case ok && refused.Code == "42501":
		login := conn.Config().User
		return fmt.Errorf("become %s: the login %s may not; run `answerscope migrate` with it, or GRANT %s TO %q: %w", role, login, role, login, err)
	}
	return fmt.Errorf("become %s: %w", role, err)
}
