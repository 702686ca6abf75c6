package postgres

import "context"

// CronEventRan reports whether an event has started the due runs. An event without an id, "", is never stored.
func (db *DB) CronEventRan(ctx context.Context, event string) (bool, error) {
	return queryOne[bool](ctx, db, "cron_event_ran", event)
}

// AddCronEvent stores that an event has started the due runs.
func (db *DB) AddCronEvent(ctx context.Context, event string) error {
	return exec(ctx, db, "add_cron_event", event)
}
