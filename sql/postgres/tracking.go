package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// TrackingJob is a tracking job as its organization sees it.
type TrackingJob struct {
	ID           uuid.UUID       `db:"id"`
	BrandID      uuid.UUID       `db:"brand_id"`
	Status       string          `db:"status"` // waiting, active, completed, failed or cancelled
	Phase        string          `db:"phase"`  // queued, asking, landing or done
	Completed    int             `db:"completed"`
	Total        int             `db:"total"`
	Result       json.RawMessage `db:"result"` // nil until it has finished
	FailedReason *string         `db:"failed_reason"`
	CreatedAt    time.Time       `db:"created_at"`
}

// Finished reports whether nothing of the job changes any more.
func (j TrackingJob) Finished() bool { return j.Status != "waiting" && j.Status != "active" }

// TrackingJob finds a job of the organization, or ErrNotFound.
func (db *DB) TrackingJob(ctx context.Context, organization, id uuid.UUID) (TrackingJob, error) {
	j, err := queryOne[TrackingJob](ctx, db, "tracking_job", organization, id)
	return j, wrap(err, "find tracking job %s", id)
}

// JobKey is a job of an organization.
type JobKey struct{ OrganizationID, ID uuid.UUID }

// TrackingJobsByKey finds jobs, in no order; those that are not there are left out.
func (db *DB) TrackingJobsByKey(ctx context.Context, keys []JobKey) ([]TrackingJob, error) {
	organizations, ids := make([]uuid.UUID, len(keys)), make([]uuid.UUID, len(keys))
	for i, k := range keys {
		organizations[i], ids[i] = k.OrganizationID, k.ID
	}
	return queryAll[TrackingJob](ctx, db, "tracking_jobs_by_key", organizations, ids)
}

// TrackingJobs returns at most limit jobs of the organization, newest first: of a brand or of all (nil), and those
// before the job of below, or from the newest one on (nil).
func (db *DB) TrackingJobs(ctx context.Context, organization uuid.UUID, brand *uuid.UUID, below *TrackingJob, limit int) ([]TrackingJob, error) {
	var before *time.Time
	var id uuid.UUID
	if below != nil {
		before, id = &below.CreatedAt, below.ID
	}
	return queryAll[TrackingJob](ctx, db, "tracking_jobs", organization, brand, before, id, limit)
}

type cancelledJob struct {
	Status string `db:"status"`
	Claim  int64  `db:"claim"`
}

// CancelTracking has a job of the organization ask nothing more. Requests in flight end by themselves; a job that no
// worker has taken up is finished at once, but for answers that it has of another job. A finished job stays as it is;
// ErrNotFound if there is no such job.
func (db *DB) CancelTracking(ctx context.Context, organization, id uuid.UUID) error {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		job, err := queryOne[cancelledJob](ctx, tx, "cancel_tracking_job", organization, id)
		if err != nil {
			return err
		}
		if err := exec(ctx, tx, "cancel_tracking_runs", id); err != nil || job.Status != "waiting" {
			return err
		}
		return exec(ctx, tx, "finish_tracking_job", id, job.Claim)
	})
	if err != nil && !errors.Is(err, ErrNotFound) { // a finished one
		return wrap(err, "cancel tracking job %s", id)
	}
	_, err = db.TrackingJob(ctx, organization, id)
	return err
}

// PromptToAsk is an active prompt, and how it is asked.
type PromptToAsk struct {
	Prompt
	Platforms []string `db:"platforms"` // empty: the brand's, as models and regions
	Models    []string `db:"models"`
	Regions   []string `db:"regions"`
	Samples   int      `db:"samples"`
}

// PromptsToAsk returns the active prompts of the brand's active sets, one of each text, by text; if ids are given,
// those of them.
func (db *DB) PromptsToAsk(ctx context.Context, brand uuid.UUID, ids []uuid.UUID) ([]PromptToAsk, error) {
	return queryAll[PromptToAsk](ctx, db, "prompts_to_ask", brand, ids)
}

// BrandPlatform is a platform where a brand's prompts are asked.
type BrandPlatform struct {
	Platform string `db:"platform"`
	Model    string `db:"model"` // "": the platform's default
}

// BrandPlatforms returns the enabled platforms of a brand.
func (db *DB) BrandPlatforms(ctx context.Context, brand uuid.UUID) ([]BrandPlatform, error) {
	return queryAll[BrandPlatform](ctx, db, "brand_platforms", brand)
}
