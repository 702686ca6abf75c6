package postgres

import (
	"context"
	"fmt"
	"time"
)

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
