package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// TrackingClaim is a job that a worker has taken up. Another worker that takes it up voids the claim: what is then
// written under it is ErrNotFound.
type TrackingClaim struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	BrandID        uuid.UUID `db:"brand_id"`
	Claim          int64     `db:"claim"`
	Language       string    `db:"language"` // of the brand
	CreatedAt      time.Time `db:"created_at"`

	db *DB
}

// TrackingRun is a run that is to be asked.
type TrackingRun struct {
	ID            uuid.UUID  `db:"id"`
	PromptID      uuid.UUID  `db:"prompt_id"`
	Platform      string     `db:"platform"`
	Model         string     `db:"model"`
	Region        string     `db:"region"`
	Sample        int        `db:"sample"`
	Slot          time.Time  `db:"slot"`
	Attempts      int        `db:"attempts"`     // requests that were sent
	Failures      int        `db:"failures"`     // of them, those that are known to have failed
	RateLimited   int        `db:"rate_limited"` // of those, the ones that the platform refused for its rate limit
	NextAttemptAt *time.Time `db:"next_attempt_at"`
	ErrorClass    string     `db:"error_class"` // of the last request that failed
	Error         string     `db:"error"`
}

// RunOutcome is how a request of a run ended.
type RunOutcome struct {
	ID            uuid.UUID
	State         string // answered, gave_up, cancelled, or queued again
	Answer        string // the record, of an answered or given-up run
	Cost          string // US dollars, a decimal number; "": not known
	ErrorClass    string
	Error         string
	NextAttemptAt *time.Time
}

// IdenticalRun is a run of another job that waits with the question of a run that was answered.
type IdenticalRun struct {
	ID       uuid.UUID `db:"id"`
	JobID    uuid.UUID `db:"job_id"`
	AnswerID uuid.UUID `db:"answer_id"`
}

// UnappendedAnswer is a record that the log may lack.
type UnappendedAnswer struct {
	ID     uuid.UUID `db:"id"`
	Answer string    `db:"answer"`
}

type runPrompt struct {
	PromptID uuid.UUID       `db:"prompt_id"`
	Prompt   json.RawMessage `db:"prompt"`
}

type waitingRun struct {
	ID     uuid.UUID `db:"id"`
	IsFree bool      `db:"is_free"`
}

type lockedJob struct {
	IsOurs    bool `db:"is_ours"`
	HasOthers bool `db:"has_others"`
}

type beat struct {
	IsOurs      bool `db:"is_ours"`
	IsCancelled bool `db:"is_cancelled"`
}

// ClaimTracking takes a job up: what its last worker was asking is queued again, as of unknown outcome. ErrNotFound if
// the job is over or gone.
func (db *DB) ClaimTracking(ctx context.Context, job uuid.UUID) (claim TrackingClaim, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if claim, err = queryOne[TrackingClaim](ctx, tx, "claim_tracking_job", job); err != nil {
			return err
		}
		return exec(ctx, tx, "requeue_tracking_runs", job)
	})
	claim.db = db
	return claim, wrap(err, "claim tracking job %s", job)
}

// Runs returns the runs of the job that are to be asked, and the prompts of those, as records have them.
func (c *TrackingClaim) Runs(ctx context.Context) ([]TrackingRun, map[uuid.UUID]json.RawMessage, error) {
	runs, err := queryAll[TrackingRun](ctx, c.db, "tracking_runs_to_ask", c.ID)
	if err != nil {
		return nil, nil, err
	}
	list, err := queryAll[runPrompt](ctx, c.db, "tracking_job_prompts", c.ID)
	prompts := make(map[uuid.UUID]json.RawMessage, len(list))
	for _, p := range list {
		prompts[p.PromptID] = p.Prompt
	}
	return runs, prompts, err
}

// Ask marks runs as being asked, and returns which may be asked. A call whose reply was lost may be repeated.
func (c *TrackingClaim) Ask(ctx context.Context, runs []uuid.UUID) ([]uuid.UUID, error) {
	for {
		granted, err := queryAll[uuid.UUID](ctx, c.db, "ask_tracking_runs", c.ID, c.Claim, runs)
		if _, conflict := errors.AsType[ErrConflict](err); !conflict {
			return granted, wrap(err, "mark runs of tracking job %s", c.ID)
		} // another job has just begun to ask one of these questions, which the next try sees
	}
}

// Free returns which of runs are still to be asked, and whether no other job asks their questions any more.
func (c *TrackingClaim) Free(ctx context.Context, runs []uuid.UUID) (free map[uuid.UUID]bool, err error) {
	waiting, err := queryAll[waitingRun](ctx, c.db, "free_tracking_runs", runs)
	free = make(map[uuid.UUID]bool, len(waiting))
	for _, w := range waiting {
		free[w.ID] = w.IsFree
	}
	return free, err
}

// End stores how requests ended, counts the runs that are over, and reports whether the brand has other running jobs. A
// call whose reply was lost may be repeated. If the job is another worker's, the error is ErrNotFound, and answers are
// stored all the same where that worker has none yet: they were paid for.
func (c *TrackingClaim) End(ctx context.Context, outcomes []RunOutcome) (others bool, err error) {
	var job lockedJob
	err = pgx.BeginFunc(ctx, c.db, func(tx pgx.Tx) error {
		if job, err = queryOne[lockedJob](ctx, tx, "lock_tracking_job", c.ID, c.Claim); err != nil {
			return err
		}
		if !job.IsOurs {
			outcomes = slices.DeleteFunc(slices.Clone(outcomes), func(o RunOutcome) bool { return o.State != "answered" })
		}
		return endRuns(ctx, tx, c.ID, outcomes)
	})
	if err == nil && !job.IsOurs {
		err = ErrNotFound
	}
	return job.HasOthers, wrap(err, "end runs of tracking job %s", c.ID)
}

func endRuns(ctx context.Context, tx pgx.Tx, job uuid.UUID, outcomes []RunOutcome) error {
	n := len(outcomes)
	ids, nexts := make([]uuid.UUID, n), make([]*time.Time, n)
	states, answers, costs, classes, texts := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i, o := range outcomes {
		ids[i], states[i], answers[i], costs[i] = o.ID, o.State, o.Answer, o.Cost
		classes[i], texts[i], nexts[i] = o.ErrorClass, o.Error, o.NextAttemptAt
	}
	return exec(ctx, tx, "end_tracking_runs", job, ids, states, answers, costs, classes, texts, nexts)
}

// CancelWaiting ends the runs that are not being asked: what a cancelled job is left with when its worker has ended.
func (c *TrackingClaim) CancelWaiting(ctx context.Context) error {
	return wrap(exec(ctx, c.db, "cancel_tracking_runs", c.ID), "cancel runs of tracking job %s", c.ID)
}

// Same returns runs of other jobs that wait with the question of a run of this one.
func (c *TrackingClaim) IdenticalRuns(ctx context.Context, run uuid.UUID) ([]IdenticalRun, error) {
	return queryAll[IdenticalRun](ctx, c.db, "same_tracking_runs", c.ID, run)
}

// EndSame stores an answer for a run of another job, if that still waits for it.
func (c *TrackingClaim) EndIdenticalRun(ctx context.Context, job uuid.UUID, o RunOutcome) error {
	err := pgx.BeginFunc(ctx, c.db, func(tx pgx.Tx) error {
		waiting, err := queryAll[uuid.UUID](ctx, tx, "lock_tracking_runs", job, []uuid.UUID{o.ID})
		if err != nil || len(waiting) == 0 {
			return err
		}
		return endRuns(ctx, tx, job, []RunOutcome{o})
	})
	return wrap(err, "end run %s of tracking job %s", o.ID, job)
}

// Unappended returns some of the records that the log may lack; none if it has all.
func (c *TrackingClaim) UnappendedAnswers(ctx context.Context) ([]UnappendedAnswer, error) {
	return queryAll[UnappendedAnswer](ctx, c.db, "unappended_answers", c.ID)
}

// Appended lets go of records that the log has, and reports whether it did. It does not while a process holds the sink
// lock exclusively, as a backup does, which copies the log before PostgreSQL: one of both must have a record.
func (c *TrackingClaim) ClearAppended(ctx context.Context, runs []uuid.UUID) (bool, error) {
	return queryOne[bool](ctx, c.db, "mark_appended", runs)
}

// Land reports whether all runs have ended, and says in the job that its answers are about to land.
func (c *TrackingClaim) BeginLanding(ctx context.Context) (bool, error) {
	n, err := execRows(ctx, c.db, "land_tracking_job", c.ID, c.Claim)
	return n > 0, err
}

// AnswerIDs returns the ids of the job's records.
func (c *TrackingClaim) AnswerIDs(ctx context.Context) ([]uuid.UUID, error) {
	return queryAll[uuid.UUID](ctx, c.db, "tracking_answer_ids", c.ID)
}

// GiveUp gives up runs whose records, by their ids, do not land.
func (c *TrackingClaim) GiveUp(ctx context.Context, answers []uuid.UUID, class, reason string) error {
	err := exec(ctx, c.db, "give_up_runs", c.ID, c.Claim, answers, class, reason)
	return wrap(err, "give up runs of tracking job %s", c.ID)
}

// Finish ends the job with its result.
func (c *TrackingClaim) Finish(ctx context.Context) error {
	return wrap(exec(ctx, c.db, "finish_tracking_job", c.ID, c.Claim), "finish tracking job %s", c.ID)
}

// Beat says that the worker of the queue's job is there, and returns whether the job was cancelled. ErrNotFound if it
// is another worker's, or gone.
func (c *TrackingClaim) Heartbeat(ctx context.Context, queued int64) (cancelled bool, err error) {
	b, err := queryOne[beat](ctx, c.db, "beat_tracking_job", c.ID, c.Claim, queued)
	if err == nil && !b.IsOurs {
		err = fmt.Errorf("tracking job %s is another worker's: %w", c.ID, ErrNotFound)
	}
	return b.IsCancelled, err
}
