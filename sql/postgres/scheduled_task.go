package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Leader is a candidate for the lead of something, such as "timetable". One candidate of all processes leads at a time:
// it holds an advisory lock, which ends with its own connection. It is safe for concurrent use.
type Leader struct {
	db      *DB
	subject string

	mu       sync.Mutex
	conn     *pgx.Conn // nil before the first call and after a lost connection
	isLeader bool
}

// NewLeader returns a candidate, which does not lead yet.
func (db *DB) NewLeader(subject string) *Leader { return &Leader{db: db, subject: subject} }

// Leads reports whether this candidate leads: from the first call that finds no leader until its connection is lost.
// After an error it does not lead.
func (l *Leader) Leads(ctx context.Context) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	leads, err := l.tryLead(ctx)
	if err != nil {
		return false, errors.Join(fmt.Errorf("lead %s: %w", l.subject, err), l.drop())
	}
	return leads, nil
}

func (l *Leader) tryLead(ctx context.Context) (bool, error) {
	if l.isLeader {
		return true, l.conn.Ping(ctx) // a second lock would count twice
	}
	var err error
	if l.conn == nil {
		if l.conn, err = l.db.openConn(ctx, 0); err != nil {
			return false, err
		}
	}
	l.isLeader, err = queryOne[bool](ctx, l.conn, "lock_lead", l.subject)
	return l.isLeader, err
}

// Close ends the lead, so that another candidate can lead.
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
	l.conn, l.isLeader = nil, false
	return closeConn(conn)
}

// TaskHistory is the history of scheduled tasks, which all processes share. It is safe for concurrent use.
type TaskHistory struct{ db *DB }

// TaskHistory returns the history in this database.
func (db *DB) TaskHistory() TaskHistory { return TaskHistory{db} }

// Add adds the tasks that it lacks.
func (h TaskHistory) Add(ctx context.Context, names []string) error {
	return wrap(exec(ctx, h.db, "add_tasks", names), "add scheduled tasks %q", names)
}

// Read returns when tasks were added, and when those that ever succeeded last did.
func (h TaskHistory) Read(ctx context.Context, names []string) (added, succeeded map[string]time.Time, err error) {
	rows, err := queryAll[struct {
		Name        string     `db:"name"`
		KnownSince  time.Time  `db:"known_since"`
		SucceededAt *time.Time `db:"succeeded_at"`
	}](ctx, h.db, "tasks", names)
	added, succeeded = map[string]time.Time{}, map[string]time.Time{}
	for _, r := range rows {
		added[r.Name] = r.KnownSince
		if r.SucceededAt != nil {
			succeeded[r.Name] = *r.SucceededAt
		}
	}
	return added, succeeded, wrap(err, "read scheduled tasks %q", names)
}

// Succeeded records that a task succeeded just now.
func (h TaskHistory) Succeeded(ctx context.Context, name string) error {
	return wrap(exec(ctx, h.db, "task_succeeded", name), "record success of scheduled task %s", name)
}
