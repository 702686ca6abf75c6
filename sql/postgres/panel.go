package postgres

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Panel is the canary panel: a brand with ten fixed prompts that concern no brand, and ten control names. Where the
// answers change, the platform has changed. Its prompts and names never change: a panel with others has another id,
// and both are asked until the new one has 56 days.
var (
	PanelOrganization = uuid.NewV5(uuid.Nil, "answerscope canary panel") // without users and keys
	Panel             = uuid.NewV5(PanelOrganization, "1")
)

// AskPanel adds the panel unless it exists, and schedules it daily on every platform and model that a brand has, of the
// available platforms, and on the default model of those with a key that no brand has. It stops the panel on all
// others. ErrNotFound means that it was removed, and cannot be added again.
func (db *DB) AskPanel(ctx context.Context, available, withKey []string) error {
	err := pgx.BeginFunc(ctx, db, func(tx Tx) error {
		added, err := execRows(ctx, tx, "add_panel", PanelOrganization, Panel)
		if sqlState(err) == "23514" {
			return ErrNotFound
		}
		if err == nil && added > 0 {
			err = exec(ctx, tx, "add_panel_prompts", Panel)
		}
		if err != nil {
			return err
		}
		return exec(ctx, tx, "set_panel_platforms", Panel, available, withKey, PanelOrganization)
	})
	return wrap(err, "schedule the canary panel %s", Panel)
}

// StopPanel takes the panel off the schedule.
func (db *DB) StopPanel(ctx context.Context) error {
	return exec(ctx, db, "set_panel_platforms", Panel, []string{}, []string{}, PanelOrganization)
}
