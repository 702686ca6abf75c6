package postgres

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// What is written of some runs of a large job reads those, though PostgreSQL has no statistics of a job that has just
// been started: it read all of the job's runs for each write.
func TestWritesOfSomeRunsReadNoOthers(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
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
			asked, err := queryAll[uuid.UUID](t.Context(), tx, "ask_tracking_runs", claim.ID, claim.Claim, some)
			if len(asked) != len(some) {
				t.Errorf("%d asked", len(asked))
			}
			return err
		},
		"end":    func(tx pgx.Tx) error { return endRuns(t.Context(), tx, claim.ID, outcomes) },
		"append": func(tx pgx.Tx) error { err := exec(t.Context(), tx, "clear_appended_answers", some); return err },
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
	row := tx.QueryRow(t.Context(),
		"SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'tracking_runs'")
	if err := row.Scan(&read); err != nil {
		t.Fatal(err)
	}
	return read
}

// Two jobs of an organization with the same questions, asked in opposite orders, waited for each other's entries in the
// index of questions that are being asked, until PostgreSQL ended one of them as a deadlock.
func TestJobsWithTheSameQuestionsDoNotDeadlock(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	one := claimedJob(t, db, 300)
	two := startedJob(t, db, one.OrganizationID, one.BrandID, 300)
	// rows are found in the order of their ids
	for id, order := range map[uuid.UUID]string{one.ID: "ASC", two.ID: "DESC"} {
		_, err := db.Exec(t.Context(),
			`UPDATE public.tracking_runs AS r SET prompt_id = '00000000-0000-0000-0000-000000000001', id = n.id
			FROM (SELECT id AS old, (substr(job_id::text, 1, 24) || lpad(to_hex(row_number() OVER (ORDER BY model `+
				order+`)), 12, '0'))::uuid AS id
				FROM public.tracking_runs WHERE job_id = $1) AS n WHERE r.id = n.old`, id)
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		var together sync.WaitGroup
		granted := make([]int, 2)
		for i, claim := range []TrackingClaim{one, two} {
			runs, _, err := claim.Runs(t.Context())
			if err != nil || len(runs) != 300 {
				t.Fatal(len(runs), err)
			}
			var ids []uuid.UUID
			for _, r := range runs {
				ids = append(ids, r.ID)
			}
			together.Go(func() {
				asking, err := claim.Ask(t.Context(), ids)
				if err != nil {
					t.Error(err)
				}
				granted[i] = len(asking)
			})
		}
		together.Wait()
		if granted[0]+granted[1] != 300 {
			t.Fatalf("%v runs of two jobs may be asked, want 300", granted)
		}
		if _, err := db.Exec(t.Context(), "UPDATE public.tracking_runs SET state = 'queued'"); err != nil {
			t.Fatal(err)
		}
	}
}

// An answer of a worker whose job was taken over is stored, if it comes first: it was paid for. Nothing else of that
// worker is.
func TestALateAnswerIsStoredIfItComesFirst(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	late := claimedJob(t, db, 3)
	runs := askAll(t, &late)
	claim, err := db.ClaimTracking(t.Context(), late.ID)
	if err != nil {
		t.Fatal(err)
	}
	askAgain := []uuid.UUID{runs[1]}
	if granted, err := claim.Ask(t.Context(), askAgain); err != nil || len(granted) != 1 {
		t.Fatal(granted, err)
	}
	answered := func(run uuid.UUID, text string) RunOutcome {
		return RunOutcome{ID: run, State: "answered", Answer: `"` + text + `"`}
	}
	outcomes := []RunOutcome{
		answered(runs[0], "late"), answered(runs[1], "late"),
		{ID: runs[2], State: "gave_up", Answer: `"late"`, ErrorClass: "auth"},
	}
	for range 2 { // the reply to the first call may be lost
		if _, err := late.End(t.Context(), outcomes); !errors.Is(err, ErrNotFound) {
			t.Errorf("End() of another worker's job = %v", err)
		}
	}
	if _, err := claim.End(t.Context(), []RunOutcome{answered(runs[1], "second")}); err != nil {
		t.Fatal(err)
	}
	if granted, err := claim.Ask(t.Context(), runs); err != nil || len(granted) != 1 || granted[0] != runs[2] {
		t.Errorf("%v may be asked, want %s alone: %v", granted, runs[2], err)
	}
	answers, err := claim.UnappendedAnswers(t.Context())
	for _, a := range answers {
		if a.Answer != `"late"` {
			t.Errorf("%s is stored of a run that was answered before", a.Answer)
		}
	}
	job, jobErr := db.TrackingJob(t.Context(), late.OrganizationID, late.ID)
	if err != nil || jobErr != nil || len(answers) != 2 || job.Completed != 2 {
		t.Errorf("%d answers and %d completed runs, want 2 and 2: %v, %v", len(answers), job.Completed, err, jobErr)
	}
}

// A worker that was taken for dead changes nothing of the job that another one has claimed. Each statement that takes a
// claim is called under the void one, and then under the valid one, where it does what it is for.
func TestAVoidClaimWritesNothing(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	void := claimedJob(t, db, 2)
	valid, err := db.ClaimTracking(t.Context(), void.ID)
	if err != nil {
		t.Fatal(err)
	}
	runs, _, err := void.Runs(t.Context())
	if err != nil || len(runs) != 2 {
		t.Fatal(len(runs), err)
	}
	done, queued := runs[0].ID, runs[1].ID
	text := func(sql string, arguments ...any) (s string) {
		t.Helper()
		if err := db.QueryRow(t.Context(), sql, arguments...).Scan(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	record := uuid.FromStringOrNil(
		text("UPDATE public.tracking_runs SET state = 'done' WHERE id = $1 RETURNING answer_id::text", done))
	text("UPDATE public.tracking_jobs SET completed = 1 WHERE id = $1 RETURNING ''", void.ID)
	state := func() string {
		return text(`SELECT concat(min(j::text), ' ', string_agg(r::text, ' ' ORDER BY r.id))
			FROM public.tracking_jobs AS j JOIN public.tracking_runs AS r ON r.job_id = j.id WHERE j.id = $1`, void.ID)
	}
	writes := []struct {
		statement string
		write     func(c *TrackingClaim) error
	}{
		{"tracking_heartbeat", func(c *TrackingClaim) error { _, err := c.Heartbeat(t.Context(), 0); return err }},
		{"ask_tracking_runs", func(c *TrackingClaim) error {
			_, err := c.Ask(t.Context(), []uuid.UUID{queued})
			return err
		}},
		{"lock_tracking_job", func(c *TrackingClaim) error {
			_, err := c.End(t.Context(), []RunOutcome{{ID: queued, State: "gave_up", Answer: "{}", ErrorClass: "auth"}})
			return err
		}},
		{"give_up_runs", func(c *TrackingClaim) error {
			return c.GiveUp(t.Context(), []uuid.UUID{record}, "refused", "a dead letter")
		}},
		{"begin_landing", func(c *TrackingClaim) error { _, err := c.BeginLanding(t.Context()); return err }},
		{"finish_tracking_job", func(c *TrackingClaim) error { return c.Finish(t.Context()) }},
	}
	var tested []string
	for _, w := range writes {
		tested = append(tested, w.statement)
		before, isHeartbeat := state(), w.statement == "tracking_heartbeat" // which changes the queue's job alone
		err := w.write(&void)
		if lost := errors.Is(err, ErrNotFound); err != nil && !lost || isHeartbeat && !lost {
			t.Errorf("%s under a void claim: %v", w.statement, err)
		}
		if after := state(); after != before {
			t.Errorf("%s under a void claim made\n%s\nof\n%s", w.statement, after, before)
		}
		if err := w.write(&valid); err != nil || state() == before && !isHeartbeat {
			t.Errorf("%s under the valid claim changed nothing: %v", w.statement, err)
		}
	}
	slices.Sort(tested)
	if all := statementsWith(t, "claim = $2"); !slices.Equal(tested, all) {
		t.Errorf("tested are %v, and a claim have %v", tested, all)
	}
}

// statementsWith returns the sorted names of the statements that contain a text.
func statementsWith(t *testing.T, text string) (names []string) {
	t.Helper()
	all, err := files.ReadDir("query")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		sql, err := files.ReadFile("query/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(sql, []byte(text)) {
			names = append(names, strings.TrimSuffix(file.Name(), ".sql"))
		}
	}
	return names
}

// A run whose request fails after its job was cancelled is not asked again, and counts as asked: only the runs that
// were never asked are given back to the budget of runs.
func TestACancelledJobAsksNothingAgain(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	claim := claimedJob(t, db, 3)
	runs, _, err := claim.Runs(t.Context())
	if err != nil || len(runs) != 3 {
		t.Fatal(len(runs), err)
	}
	one := []uuid.UUID{runs[0].ID}
	if granted, err := claim.Ask(t.Context(), one); err != nil || len(granted) != 1 {
		t.Fatal(granted, err)
	}
	if err := db.CancelTracking(t.Context(), claim.OrganizationID, claim.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := claim.End(t.Context(), []RunOutcome{{ID: one[0], State: "queued", ErrorClass: "server"}}); err != nil {
		t.Fatal(err)
	}
	if granted, err := claim.Ask(t.Context(), one); err != nil || len(granted) != 0 {
		t.Errorf("after the cancellation %v may be asked: %v", granted, err)
	}
	if err := claim.CancelWaiting(t.Context()); err != nil {
		t.Fatal(err)
	}
	usage, err := db.BudgetUsage(t.Context(), claim.OrganizationID, claim.CreatedAt)
	if err != nil || usage[0].Spent.RunsDay != 1 {
		t.Errorf("the cancelled job has used %+v, want the run that was asked: %v", usage, err)
	}
}

// A worker that lost the reply to its first statement asks again whether it may ask. It was refused, since its own run
// was being asked; the run was forgotten, and then counted as a repeat that was never sent.
func TestALostReplyKeepsTheRuns(t *testing.T) {
	t.Parallel()
	claim := claimedJob(t, openMigrated(t), 3)
	first := askAll(t, &claim)
	if second := askAll(t, &claim); !slices.Equal(first, second) {
		t.Errorf("%v may be asked after %v", second, first)
	}
	var attempts, repeats int
	row := claim.db.QueryRow(t.Context(),
		"SELECT sum(attempts), sum(repeats) FROM public.tracking_runs WHERE job_id = $1", claim.ID)
	if err := row.Scan(&attempts, &repeats); err != nil || attempts != 3 || repeats != 0 {
		t.Errorf("%d requests and %d repeats are counted, want 3 and 0: %v", attempts, repeats, err)
	}
}

// askAll marks all runs of a job as being asked.
func askAll(t *testing.T, claim *TrackingClaim) []uuid.UUID {
	t.Helper()
	var runs []uuid.UUID
	rows, err := claim.db.Query(t.Context(),
		"SELECT id FROM public.tracking_runs WHERE job_id = $1 ORDER BY id", claim.ID)
	if err == nil {
		runs, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	}
	if err != nil {
		t.Fatal(err)
	}
	granted, err := claim.Ask(t.Context(), runs)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(granted, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return granted
}

func openMigrated(t *testing.T) *DB {
	t.Helper()
	cfg := DefaultConfig()
	cfg.DSN = migratedDSN(t)
	db, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// claimedJob is a job of so many runs that was just started and claimed.
func claimedJob(t *testing.T, db *DB, runs int) TrackingClaim {
	t.Helper()
	organization, brand := addedBrand(t, db)
	return startedJob(t, db, organization, brand, runs)
}

// startedJob is a job of a brand that was just started and claimed.
func startedJob(t *testing.T, db *DB, organization, brand uuid.UUID, runs int) TrackingClaim {
	t.Helper()
	id := start(t, db, newTracking(organization, brand, runs))
	claim, err := db.ClaimTracking(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return claim
}
