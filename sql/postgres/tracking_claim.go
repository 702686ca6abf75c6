package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// TrackingClaim is a job that a worker has claimed. The next worker that claims it voids this claim: writes under a
// void claim are ErrNotFound.
type TrackingClaim struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	BrandID        uuid.UUID `db:"brand_id"`
	Claim          int64     `db:"claim"`
	Language       string    `db:"language"` // of the brand
	CreatedAt      time.Time `db:"created_at"`

	db *DB
}

// TrackingRun is a queued run, or one that a capture provider has accepted.
type TrackingRun struct {
	ID            uuid.UUID  `db:"id"`
	PromptID      uuid.UUID  `db:"prompt_id"`
	Platform      string     `db:"platform"`
	Model         string     `db:"model"`
	Region        string     `db:"region"`
	Sample        int        `db:"sample"`
	Slot          time.Time  `db:"slot"`
	Attempts      int        `db:"attempts"`     // requests that were sent
	Failures      int        `db:"failures"`     // requests that failed for certain
	RateLimited   int        `db:"rate_limited"` // failures that do not use up its retries
	NextAttemptAt *time.Time `db:"next_attempt_at"`
	ErrorClass    string     `db:"error_class"` // of the last request that failed
	Error         string     `db:"error"`
	Provider      string     `db:"provider"`     // that was asked last
	ProviderJob   string     `db:"provider_job"` // the last one that a provider has accepted
	SubmittedAt   *time.Time `db:"submitted_at"` // of the provider's job; nil: it is queued
	LateJobs      []string   `db:"late_jobs"`    // that took too long: the provider, a space and its job
	Estimate      string     `db:"estimate"`     // US dollars, a decimal number; 0: not known
	Cost          string     `db:"cost"`         // of the requests that failed
}

// RunOutcome is the outcome of a request of a run.
type RunOutcome struct {
	ID            uuid.UUID
	State         string // answered, gave_up, cancelled, queued again, or asking: a provider has accepted it
	Answer        string // the record, of an answered or given-up run
	NotShown      bool   // it was answered by seeing that the surface showed no answer
	Shared        bool   // identical runs of other jobs have the answer
	Cost          string // US dollars, a decimal number; "": not known
	ErrorClass    string
	Error         string
	NextAttemptAt *time.Time
	Uncounted     bool       // the failure does not use up the retries
	Provider      string     // "": unchanged
	ProviderJob   string     // "": unchanged
	SubmittedAt   *time.Time // nil: unchanged, or cleared where the run is queued
}

// IdenticalRun is a queued run of another job with the question of an answered run.
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

// ClaimTracking claims a job and queues again the runs that its last worker was asking, with unknown outcome.
// ErrNotFound if the job has finished or was deleted.
func (db *DB) ClaimTracking(ctx context.Context, job uuid.UUID) (claim TrackingClaim, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if claim, err = queryOne[TrackingClaim](ctx, tx, "claim_tracking_job", job); err != nil {
			return err
		}
		return exec(ctx, tx, "requeue_tracking_runs", job)
	})
	claim.db = db
	return claim, wrap(err, "claim tracking job %s", job)
}

// Runs returns the queued runs of the job, and their prompts by id as records contain them.
func (c *TrackingClaim) Runs(ctx context.Context) ([]TrackingRun, map[uuid.UUID]json.RawMessage, error) {
	runs, err := queryAll[TrackingRun](ctx, c.db, "tracking_runs_to_ask", c.ID)
	if err != nil {
		return nil, nil, err
	}
	list, err := queryAll[struct {
		ID     uuid.UUID       `db:"prompt_id"`
		Prompt json.RawMessage `db:"prompt"`
	}](ctx, c.db, "tracking_job_prompts", c.ID)
	prompts := make(map[uuid.UUID]json.RawMessage, len(list))
	for _, p := range list {
		prompts[p.ID] = p.Prompt
	}
	return runs, prompts, err
}

// Ask marks runs as being asked, and returns those that the worker may ask. A call whose reply was lost may be
// repeated.
func (c *TrackingClaim) Ask(ctx context.Context, runs []uuid.UUID) ([]uuid.UUID, error) {
	for {
		granted, err := queryAll[uuid.UUID](ctx, c.db, "ask_tracking_runs", c.ID, c.Claim, runs)
		if _, conflict := errors.AsType[ErrConflict](err); !conflict {
			return granted, wrap(err, "mark runs of tracking job %s", c.ID)
		} // another job has just begun to ask one of these questions, which the next try sees
	}
}

// Free returns the runs that are still queued, and whether no other job is asking their questions.
func (c *TrackingClaim) Free(ctx context.Context, runs []uuid.UUID) (free map[uuid.UUID]bool, err error) {
	queued, err := queryAll[struct {
		ID     uuid.UUID `db:"id"`
		IsFree bool      `db:"is_free"`
	}](ctx, c.db, "free_tracking_runs", runs)
	free = make(map[uuid.UUID]bool, len(queued))
	for _, run := range queued {
		free[run.ID] = run.IsFree
	}
	return free, err
}

// End stores outcomes of requests, counts the runs that have ended, and reports whether the brand has other running
// jobs. If it has, End leaves out answers that are not shared: no other job asks a question before its run has ended. A
// call whose reply was lost may be repeated. If another worker has claimed the job, the error is ErrNotFound, but
// answers are still stored where that worker has none yet: they were paid for.
func (c *TrackingClaim) End(ctx context.Context, outcomes []RunOutcome) (hasOthers bool, err error) {
	type lockedJob struct {
		IsOurs    bool `db:"is_ours"`
		HasOthers bool `db:"has_others"`
	}
	var job lockedJob
	err = pgx.BeginFunc(ctx, c.db, func(tx Tx) error {
		if job, err = queryOne[lockedJob](ctx, tx, "lock_tracking_job", c.ID, c.Claim); err != nil {
			return err
		}
		isLeftOut := func(o RunOutcome) bool {
			if job.IsOurs {
				return job.HasOthers && o.State == "answered" && !o.Shared
			}
			return o.State != "answered"
		}
		return endRuns(ctx, tx, c.ID, slices.DeleteFunc(slices.Clone(outcomes), isLeftOut))
	})
	if err == nil && !job.IsOurs {
		err = ErrNotFound
	}
	return job.HasOthers, wrap(err, "end runs of tracking job %s", c.ID)
}

func endRuns(ctx context.Context, tx Tx, job uuid.UUID, outcomes []RunOutcome) error {
	var ids []uuid.UUID
	var states, answers, costs, classes, texts, providers, jobs []string
	var nexts, submissions []*time.Time
	var uncounted, notShown []bool
	for _, o := range outcomes {
		ids, states, answers = append(ids, o.ID), append(states, o.State), append(answers, o.Answer)
		costs, classes, texts = append(costs, o.Cost), append(classes, o.ErrorClass), append(texts, o.Error)
		nexts, uncounted = append(nexts, o.NextAttemptAt), append(uncounted, o.Uncounted)
		providers, jobs = append(providers, o.Provider), append(jobs, o.ProviderJob)
		submissions, notShown = append(submissions, o.SubmittedAt), append(notShown, o.NotShown)
	}
	return exec(ctx, tx, "end_tracking_runs", job, ids, states, answers, costs, classes, texts, nexts, uncounted,
		providers, jobs, submissions, notShown)
}

// CancelWaiting ends the queued runs of a cancelled job once its worker has no request in flight.
func (c *TrackingClaim) CancelWaiting(ctx context.Context) error {
	return wrap(exec(ctx, c.db, "cancel_tracking_runs", c.ID), "cancel runs of tracking job %s", c.ID)
}

// IdenticalRuns returns the queued runs of other jobs with the question of a run of this one.
func (c *TrackingClaim) IdenticalRuns(ctx context.Context, run uuid.UUID) ([]IdenticalRun, error) {
	return queryAll[IdenticalRun](ctx, c.db, "identical_tracking_runs", c.ID, run)
}

// EndIdenticalRun stores an answer for a run of another job, if that run is still queued.
func (c *TrackingClaim) EndIdenticalRun(ctx context.Context, job uuid.UUID, o RunOutcome) error {
	err := pgx.BeginFunc(ctx, c.db, func(tx Tx) error {
		queued, err := queryAll[uuid.UUID](ctx, tx, "lock_tracking_runs", job, []uuid.UUID{o.ID})
		if err != nil || len(queued) == 0 {
			return err
		}
		return endRuns(ctx, tx, job, []RunOutcome{o})
	})
	return wrap(err, "end run %s of tracking job %s", o.ID, job)
}

// UnappendedAnswers returns some of the records that the log may lack; none if it has all.
func (c *TrackingClaim) UnappendedAnswers(ctx context.Context) ([]UnappendedAnswer, error) {
	return queryAll[UnappendedAnswer](ctx, c.db, "unappended_answers", c.ID)
}

// ClearAppended clears the stored copies of appended records, and reports whether it did. It does not while a process
// holds the sink lock exclusively, as a backup does: it copies the log before PostgreSQL, and one of the copies must
// contain the record.
func (c *TrackingClaim) ClearAppended(ctx context.Context, runs []uuid.UUID) (bool, error) {
	return queryOne[bool](ctx, c.db, "clear_appended_answers", runs)
}

// BeginLanding sets the phase of the job to landing if all of its runs have ended, and reports whether they have.
func (c *TrackingClaim) BeginLanding(ctx context.Context) (bool, error) {
	n, err := execRows(ctx, c.db, "begin_landing", c.ID, c.Claim)
	return n > 0, err
}

// AnswerIDs returns the ids of the job's records.
func (c *TrackingClaim) AnswerIDs(ctx context.Context) ([]uuid.UUID, error) {
	return queryAll[uuid.UUID](ctx, c.db, "tracking_answer_ids", c.ID)
}

// GiveUp gives up runs, by the ids of their records, which the warehouse does not get.
func (c *TrackingClaim) GiveUp(ctx context.Context, answers []uuid.UUID, class, reason string) error {
	err := exec(ctx, c.db, "give_up_runs", c.ID, c.Claim, answers, class, reason)
	return wrap(err, "give up runs of tracking job %s", c.ID)
}

// Finish ends the job with its result.
func (c *TrackingClaim) Finish(ctx context.Context) error {
	return wrap(exec(ctx, c.db, "finish_tracking_job", c.ID, c.Claim), "finish tracking job %s", c.ID)
}

// Heartbeat updates the heartbeat of the queue's job, and reports whether the tracking job was cancelled. ErrNotFound
// if another worker has claimed it, or it was deleted.
func (c *TrackingClaim) Heartbeat(ctx context.Context, queued int64) (cancelled bool, err error) {
	cancelled, err = queryOne[bool](ctx, c.db, "tracking_heartbeat", c.ID, c.Claim, queued)
	return cancelled, wrap(err, "keep the claim of tracking job %s", c.ID)
}
