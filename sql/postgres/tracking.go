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

var (
	trackingJob        = query[TrackingJob]("tracking_job")
	trackingJobs       = query[TrackingJob]("tracking_jobs")
	trackingJobsByKey  = query[TrackingJob]("tracking_jobs_by_key")
	cancelTrackingJob  = query[cancelledJob]("cancel_tracking_job")
	cancelTrackingRuns = query[none]("cancel_tracking_runs")
	promptsToAsk       = query[PromptToAsk]("prompts_to_ask")
	brandPlatforms     = query[BrandPlatform]("brand_platforms")
)

// TrackingJob finds a job of the organization, or ErrNotFound.
func (db *DB) TrackingJob(ctx context.Context, organization, id uuid.UUID) (TrackingJob, error) {
	j, err := trackingJob.one(ctx, db, organization, id)
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
	return trackingJobsByKey.all(ctx, db, organizations, ids)
}

// TrackingJobs returns at most limit jobs of the organization, newest first: of a brand or of all (nil), and those
// before the job of below, or from the newest one on (nil).
func (db *DB) TrackingJobs(ctx context.Context, organization uuid.UUID, brand *uuid.UUID, below *TrackingJob, limit int) ([]TrackingJob, error) {
	var before *time.Time
	var id uuid.UUID
	if below != nil {
		before, id = &below.CreatedAt, below.ID
	}
	return trackingJobs.all(ctx, db, organization, brand, before, id, limit)
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
		job, err := cancelTrackingJob.one(ctx, tx, organization, id)
		if err != nil {
			return err
		}
		if _, err := cancelTrackingRuns.run(ctx, tx, id); err != nil || job.Status != "waiting" {
			return err
		}
		_, err = finishTrackingJob.run(ctx, tx, id, job.Claim)
		return err
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
	return promptsToAsk.all(ctx, db, brand, ids)
}

// BrandPlatform is a platform where a brand's prompts are asked.
type BrandPlatform struct {
	Platform string `db:"platform"`
	Model    string `db:"model"` // "": the platform's default
}

// BrandPlatforms returns the enabled platforms of a brand.
func (db *DB) BrandPlatforms(ctx context.Context, brand uuid.UUID) ([]BrandPlatform, error) {
	return brandPlatforms.all(ctx, db, brand)
}
