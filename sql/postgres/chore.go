package postgres

import (
	"context"
	"fmt"
	"time"
)

// Chores is the book of what the timetable runs. It is safe for concurrent use.
type Chores struct{ db *DB }

// NewChores reads and writes nothing yet.
func (db *DB) NewChores() Chores { return Chores{db} }

type (
	choreNames struct{ Names []string }
	choreName  struct{ Name string }
	choreRow   struct {
		Name        string     `db:"name"`
		KnownSince  time.Time  `db:"known_since"`
		SucceededAt *time.Time `db:"succeeded_at"`
	}
)

var (
	enterChores    = query[choreNames, none]("enter_chores")
	chores         = query[choreNames, choreRow]("chores")
	choreSucceeded = query[choreName, none]("chore_succeeded")
)

// Enter makes chores known that are not.
func (c Chores) Enter(ctx context.Context, names []string) error {
	if _, err := enterChores.run(ctx, c.db, choreNames{names}); err != nil {
		return fmt.Errorf("enter chores %q: %w", names, err)
	}
	return nil
}

// Past says of those of the chores that are known since when they are, and when each
// last succeeded, if it ever has.
func (c Chores) Past(ctx context.Context, names []string) (known, succeeded map[string]time.Time, err error) {
	rows, err := chores.all(ctx, c.db, choreNames{names})
	if err != nil {
		return nil, nil, fmt.Errorf("read chores %q: %w", names, err)
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

// Succeeded notes that a chore has, just now.
func (c Chores) Succeeded(ctx context.Context, name string) error {
	if _, err := choreSucceeded.run(ctx, c.db, choreName{name}); err != nil {
		return fmt.Errorf("note success of chore %s: %w", name, err)
	}
	return nil
}
