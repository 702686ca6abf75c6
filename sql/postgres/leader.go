package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Leader is one of any number of candidates, in all processes, of which one at a time leads: it holds an advisory lock,
// which ends with a connection of its own. It is safe for concurrent use.
type Leader struct {
	db   *DB
	what string

	mu   sync.Mutex
	conn *pgx.Conn // nil before the first question and after a lost connection
	held bool
}

// NewLeader is a candidate for leading in what, such as "timetable".
func (db *DB) NewLeader(what string) *Leader { return &Leader{db: db, what: what} }

// Leads reports whether this candidate leads: from the first call that finds no leader until its connection is lost.
// After an error it does not know, and has given up its lead.
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
		conn, err := l.db.openConn(ctx, 0)
		if err != nil {
			return false, err
		}
		l.conn = conn
	}
	if l.held {
		return true, l.conn.Ping(ctx) // taking a lock again would count it twice
	}
	var err error
	l.held, err = queryOne[bool](ctx, l.conn, "lock_lead", l.what)
	return l.held, err
}

// Close lets another candidate lead.
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
	return closeConn(conn)
}
