package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// What is written of some runs of a large job reads those, though PostgreSQL has no statistics of a job that has just
// been started: it read all of the job's runs for each write.
func TestWritesOfSomeRunsReadNoOthers(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.DSN = migratedDSN(t)
	db, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	claim := claimedJob(t, db, 20_000)
	runs, _, err := claim.Runs(t.Context())
	if err != nil || len(runs) != 20_000 {
		t.Fatal(len(runs), err)
	}
	var some []uuid.UUID
	var outcomes []RunOutcome
	for _, r := range runs[:50] {
		some = append(some, r.ID)
		outcomes = append(outcomes, RunOutcome{ID: r.ID, State: "answered", Answer: "{}"})
	}
	for name, write := range map[string]func(tx pgx.Tx) error{
		"ask": func(tx pgx.Tx) error {
			asked, err := askTrackingRuns.all(t.Context(), tx, claim.ID, claim.Claim, some)
			if len(asked) != len(some) {
				t.Errorf("%d asked", len(asked))
			}
			return err
		},
		"end":    func(tx pgx.Tx) error { return endRuns(t.Context(), tx, claim.ID, outcomes) },
		"append": func(tx pgx.Tx) error { _, err := markAppended.run(t.Context(), tx, some); return err },
	} {
		read := 0
		err := pgx.BeginFunc(t.Context(), db, func(tx pgx.Tx) error {
			before := rowsRead(t, tx)
			if err := write(tx); err != nil {
				return err
			}
			read = rowsRead(t, tx) - before
			return errUndo
		})
		if !errors.Is(err, errUndo) || read < len(some) || read > 10*len(some) {
			t.Errorf("%s of %d runs reads %d: %v", name, len(some), read, err)
		}
	}
}

// errUndo ends a transaction for the next one to find the same.
var errUndo = errors.New("undo")

func rowsRead(t *testing.T, tx pgx.Tx) (read int) {
	t.Helper()
	row := tx.QueryRow(t.Context(), "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'tracking_runs'")
	if err := row.Scan(&read); err != nil {
		t.Fatal(err)
	}
	return read
}

// claimedJob is a job of so many runs that was just started and claimed.
func claimedJob(t *testing.T, db *DB, runs int) TrackingClaim {
	t.Helper()
	organization, err := db.AddOrganization(t.Context(), "Lumen", "")
	if err != nil {
		t.Fatal(err)
	}
	brand, _, err := db.AddBrand(t.Context(), organization.ID, NewBrand{Name: "Lumen", Domains: []string{"lumen.example"}})
	if err != nil {
		t.Fatal(err)
	}
	prompt := uuid.Must(uuid.NewV4())
	started := NewTracking{
		OrganizationID: organization.ID, BrandID: brand.ID, Request: json.RawMessage("{}"), CreatedAt: time.Now(),
		Prompts: []NewRunPrompt{{PromptID: prompt, Prompt: json.RawMessage("{}")}},
	}
	for i := range runs {
		started.Runs = append(started.Runs, NewRun{
			PromptID: prompt, Platform: "alpha", Model: fmt.Sprint("model-", i), Sample: 1, Slot: time.Now(), AnswerID: uuid.Must(uuid.NewV4()),
		})
	}
	id, err := db.StartTracking(t.Context(), started, func(Tx, uuid.UUID) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	claim, err := db.ClaimTracking(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}
