package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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

// TaskHistory has the history of scheduled tasks that all processes share. It is safe for concurrent use.
type TaskHistory struct{ db *DB }

// TaskHistory is the history that this database has.
func (db *DB) TaskHistory() TaskHistory { return TaskHistory{db} }

type taskRow struct {
	Name        string     `db:"name"`
	KnownSince  time.Time  `db:"known_since"`
	SucceededAt *time.Time `db:"succeeded_at"`
}

// Add adds the tasks that are not known yet.
func (h TaskHistory) Add(ctx context.Context, names []string) error {
	return wrap(exec(ctx, h.db, "add_tasks", names), "add scheduled tasks %q", names)
}

// Read returns since when tasks have been known, and when those that ever succeeded last did.
func (h TaskHistory) Read(ctx context.Context, names []string) (known, succeeded map[string]time.Time, err error) {
	rows, err := queryAll[taskRow](ctx, h.db, "tasks", names)
	if err != nil {
		return nil, nil, fmt.Errorf("read scheduled tasks %q: %w", names, err)
	}
	known, succeeded = map[string]time.Time{}, map[string]time.Time{}
	for _, r := range rows {
		known[r.Name] = r.KnownSince
		if r.SucceededAt != nil {
			succeeded[r.Name] = *r.SucceededAt
		}
	}
	return known, succeeded, nil
}

// Succeeded records that a task has just succeeded.
func (h TaskHistory) Succeeded(ctx context.Context, name string) error {
	return wrap(exec(ctx, h.db, "task_succeeded", name), "record success of scheduled task %s", name)
}
