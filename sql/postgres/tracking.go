package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// TrackingJob is the state of a tracking job.
type TrackingJob struct {
	ID           uuid.UUID       `db:"id"`
	BrandID      uuid.UUID       `db:"brand_id"`
	Status       string          `db:"status"` // waiting, active, completed, failed or cancelled
	Phase        string          `db:"phase"`  // queued, asking, landing or done
	Completed    int             `db:"completed"`
	Total        int             `db:"total"`
	Result       json.RawMessage `db:"result"` // nil until the job has finished
	FailedReason *string         `db:"failed_reason"`
	CreatedAt    time.Time       `db:"created_at"`
}

// Finished reports whether the job has ended and changes no more.
func (j TrackingJob) Finished() bool { return j.Status != "waiting" && j.Status != "active" }

// TrackingJob finds a job of the organization, or ErrNotFound.
func (db *DB) TrackingJob(ctx context.Context, organization, id uuid.UUID) (TrackingJob, error) {
	j, err := queryOne[TrackingJob](ctx, db, "tracking_job", organization, id)
	return j, wrap(err, "find tracking job %s", id)
}

// TrackingJobs returns at most limit jobs of an organization, newest first: of a brand or of all (nil), and only those
// older than a job unless that is nil.
func (db *DB) TrackingJobs(
	ctx context.Context, organization uuid.UUID, brand *uuid.UUID, olderThan *TrackingJob, limit int,
) ([]TrackingJob, error) {
	var before *time.Time
	var id uuid.UUID
	if olderThan != nil {
		before, id = &olderThan.CreatedAt, olderThan.ID
	}
	return queryAll[TrackingJob](ctx, db, "tracking_jobs", organization, brand, before, id, limit)
}

// RunCost returns the mean cost in US dollars of the runs of a brand's newest jobs; nil without any.
func (db *DB) RunCost(ctx context.Context, organization, brand uuid.UUID) (*float64, error) {
	return queryOne[*float64](ctx, db, "run_cost", organization, brand)
}

// CancelTracking stops a job of the organization from sending requests; those in flight end by themselves. A job that
// no worker has claimed finishes at once, unless it has answers of another job. A finished job stays unchanged;
// ErrNotFound if the job does not exist.
func (db *DB) CancelTracking(ctx context.Context, organization, id uuid.UUID) error {
	err := pgx.BeginFunc(ctx, db, func(tx Tx) error {
		job, err := queryOne[struct {
			Status string `db:"status"`
			Claim  int64  `db:"claim"`
		}](ctx, tx, "cancel_tracking_job", organization, id)
		if err != nil {
			return err
		}
		if err := exec(ctx, tx, "cancel_tracking_runs", id); err != nil || job.Status != "waiting" {
			return err
		}
		return exec(ctx, tx, "finish_tracking_job", id, job.Claim)
	})
	if err != nil && !errors.Is(err, ErrNotFound) { // which may be a finished job
		return wrap(err, "cancel tracking job %s", id)
	}
	_, err = db.TrackingJob(ctx, organization, id)
	return err
}

// NewTracking is a tracking job to be started.
type NewTracking struct {
	OrganizationID, BrandID uuid.UUID
	RequestedBy             *uuid.UUID // nil: a schedule, or the command line
	IdempotencyKey          *string
	Request                 json.RawMessage // the body of the request, for people
	Digest                  []byte          // of the questions of its runs; nil joins no running job
	CreatedAt               time.Time
	Runs                    []NewRun // one or more
	Prompts                 []NewRunPrompt
}

// NewRun is a run of a job to be started.
type NewRun struct {
	PromptID uuid.UUID `json:"prompt_id"`
	Platform string    `json:"platform"`
	Model    string    `json:"model"`
	Region   string    `json:"region"`
	Sample   int       `json:"sample"`
	Slot     time.Time `json:"slot"`
	Estimate *string   `json:"estimate"` // US dollars, a decimal number; nil: not known
	AnswerID uuid.UUID `json:"answer_id"`
}

// NewRunPrompt is a prompt of the runs, as their records contain it.
type NewRunPrompt struct {
	PromptID uuid.UUID       `json:"prompt_id"`
	Prompt   json.RawMessage `json:"prompt"`
}

// ErrAsked reports that every run was already asked in its slot.
var ErrAsked = errors.New("asked in this slot already")

// TrackingByKey finds the job that was started with an idempotency key within a day, or ErrNotFound.
func (db *DB) TrackingByKey(ctx context.Context, organization uuid.UUID, key string) (uuid.UUID, error) {
	return queryOne[uuid.UUID](ctx, db, "tracking_job_by_key", organization, key)
}

// StartTracking starts a job, all or nothing; or returns the job that was started with the same key, or that is running
// with the same plan. A lock serializes the starts of an organization, so that each sees the spending of the others.
// enqueue is called in the same transaction. The errors are *BudgetError, ErrAsked and any of enqueue.
func (db *DB) StartTracking(
	ctx context.Context, n NewTracking, enqueue func(tx Tx, job uuid.UUID) error,
) (job uuid.UUID, err error) {
	runs, err := json.Marshal(n.Runs)
	if err != nil {
		return job, fmt.Errorf("encode runs: %w", err)
	}
	prompts, err := json.Marshal(n.Prompts)
	if err != nil {
		return job, fmt.Errorf("encode prompts: %w", err)
	}
	err = pgx.BeginFunc(ctx, db, func(tx Tx) error {
		if err := exec(ctx, tx, "lock_spending", n.OrganizationID); err != nil {
			return err
		}
		if job, err = equivalentJob(ctx, tx, n); !errors.Is(err, ErrNotFound) {
			return err
		}
		if err := checkBudgets(ctx, tx, n, string(runs)); err != nil {
			return err
		}
		if err := checkQueue(ctx, tx, n, db.queueLimit); err != nil {
			return err
		}
		job, err = queryOne[uuid.UUID](ctx, tx, "add_tracking_job",
			n.OrganizationID, n.BrandID, n.RequestedBy, len(n.Runs), n.Request, n.Digest, n.IdempotencyKey, n.CreatedAt)
		if err != nil {
			return err
		}
		added, err := execRows(ctx, tx, "add_tracking_runs", n.OrganizationID, job, string(runs), string(prompts))
		if err != nil {
			return err
		}
		if added == 0 {
			return ErrAsked
		}
		if err := execOne(ctx, tx, "size_tracking_job", job); err != nil {
			return err
		}
		return enqueue(tx, job)
	})
	return job, wrap(err, "start tracking of brand %s", n.BrandID)
}

// A trackingQueue counts the runs and jobs of an organization that have not ended.
type trackingQueue struct {
	Runs int `db:"runs"` // that wait to be asked
	Jobs int `db:"jobs"`
}

// queueLimit bounds an organization: more runs are a day's work of any account, and a gigabyte of rows; more jobs would
// leave other organizations none of the thousand that a process works on at once.
var queueLimit = trackingQueue{Runs: 500_000, Jobs: 500}

// checkQueue returns ErrLimit if the queue of an organization has no room for a job.
func checkQueue(ctx context.Context, tx Tx, n NewTracking, limit trackingQueue) error {
	queue, err := queryOne[trackingQueue](ctx, tx, "tracking_queue", n.OrganizationID, limit.Runs)
	refuse := func(limit int, what string, count int) error {
		return ErrLimit{fmt.Sprintf("at most %d %s, and %d do: cancel jobs, or wait until some have ended", limit, what,
			count), true}
	}
	switch {
	case err != nil:
		return err
	case queue.Runs+len(n.Runs) > limit.Runs:
		return refuse(limit.Runs, "runs of an organization wait to be asked", queue.Runs)
	case queue.Jobs >= limit.Jobs:
		return refuse(limit.Jobs, "jobs of an organization run at once", queue.Jobs)
	}
	return nil
}

// equivalentJob finds the job with the same key or plan, which a start returns, or ErrNotFound.
func equivalentJob(ctx context.Context, tx Tx, n NewTracking) (uuid.UUID, error) {
	if n.IdempotencyKey != nil {
		job, err := queryOne[uuid.UUID](ctx, tx, "tracking_job_by_key", n.OrganizationID, *n.IdempotencyKey)
		if !errors.Is(err, ErrNotFound) {
			return job, err
		}
	}
	if n.Digest == nil {
		return uuid.Nil, ErrNotFound
	}
	return queryOne[uuid.UUID](ctx, tx, "running_tracking_job", n.BrandID, n.Digest)
}
