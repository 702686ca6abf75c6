package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Leader is one of any number of candidates, in all processes, for leading in one
// thing. Who leads holds a lock, which goes with a connection of its own. It is safe
// for concurrent use.
type Leader struct {
	db   *DB
	what string

	mu   sync.Mutex
	conn *pgx.Conn // nil before the first question and after a lost connection
	held bool
}

type leadership struct{ What string }

var lockLead = query[leadership, lock]("lock_lead")

// NewLeader is a candidate for leading in what, a name such as "timetable".
func (db *DB) NewLeader(what string) *Leader { return &Leader{db: db, what: what} }

// Leads reports whether this candidate leads; it does from the first question that
// finds nobody leading until its connection is lost. An error means that it does
// not know, and has given up its lead.
func (l *Leader) Leads(ctx context.Context) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	leads, err := l.ask(ctx)
	if err != nil {
		return false, errors.Join(fmt.Errorf("lead %s: %w", l.what, err), l.drop())
	}
	return leads, nil
}

func (l *Leader) ask(ctx context.Context) (bool, error) {
	if l.conn == nil {
		conn, err := l.db.alone(ctx)
		if err != nil {
			return false, err
		}
		l.conn = conn
	}
	if l.held {
		return true, l.conn.Ping(ctx) // taking a lock again would count it twice
	}
	got, err := lockLead.one(ctx, l.conn, leadership{l.what})
	l.held = err == nil && got.Locked
	return l.held, err
}

// Close lets the next one lead.
func (l *Leader) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drop()
}

func (l *Leader) drop() error {
	if l.conn == nil {
		return nil
	}
	conn := l.conn
	l.conn, l.held = nil, false
	return shut(conn)
}

// alone opens a connection beside the pool, for what lasts as long as a connection.
// Postgres ends it, and what it holds, within 30 s of losing sight of this machine.
func (db *DB) alone(ctx context.Context) (*pgx.Conn, error) {
	cfg := db.Config()
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect to postgres: %w", err)
	}
	if err := cfg.AfterConnect(ctx, conn); err != nil {
		return nil, errors.Join(err, shut(conn))
	}
	if _, err := conn.Exec(ctx, "SET idle_session_timeout = 0; SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"); err != nil {
		return nil, errors.Join(fmt.Errorf("set up the session: %w", err), shut(conn))
	}
	return conn, nil
}

// shut ends a connection in order, or at once if that takes longer than a second.
func shut(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return conn.Close(ctx)
}
