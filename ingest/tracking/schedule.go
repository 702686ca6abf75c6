package tracking

import (
	"context"
	"errors"
	"log/slog"
	"time"
	_ "time/tzdata" // a machine or an image may have none

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	// Interval is the time between two looks for what is due.
	Interval = 10 * time.Second

	skippedFor   = time.Hour        // until a brand or platform that could not be asked is tried again
	failedFor    = time.Minute      // the same, if the reason is none of the brand's
	stalledAfter = 30 * time.Minute // without a move a job is stalled
	keptFor      = 90               // days from its end until a job is deleted; what it spent, and its answers, stay
)

// Schedule starts tracking jobs of the brands that are due. It is safe for concurrent use.
//
// A platform of a brand is due once a slot: an hour, day, week or month of the organization's time zone, some minutes
// after its start, which differ by brand. After an outage a brand is asked once, for the slot that it is in. The runs
// of a slot have the same ids whenever they are started, so that a slot that comes twice is asked once.
type Schedule struct {
	db      *postgres.DB
	jobs    *Jobs
	now     func() time.Time
	log     *slog.Logger
	stalled prometheus.Gauge
}

// NewSchedule makes a schedule that starts jobs.
func NewSchedule(db *postgres.DB, jobs *Jobs, now func() time.Time, registerer prometheus.Registerer, log *slog.Logger) *Schedule {
	return &Schedule{db, jobs, now, log, promauto.With(registerer).NewGauge(prometheus.GaugeOpts{
		Name: "answerscope_tracking_stalled_jobs", Help: "Running tracking jobs that have not moved for half an hour, as the process that keeps the schedule sees it.",
	})}
}

// Report is what a look at the schedule came to.
type Report struct {
	Organizations int       // that were looked at
	BrandsDue     int       // of them some were skipped
	Jobs          []Started // that were started
	Skipped       []Skipped
}

// Started is a job of a brand.
type Started struct {
	BrandID uuid.UUID `json:"brandId"`
	JobID   uuid.UUID `json:"jobId"`
}

// Skipped is a brand that was due and was not asked, with the reason.
type Skipped struct {
	BrandID uuid.UUID `json:"brandId"`
	Reason  string    `json:"reason"`
}

// Tick starts what is due now: a task of a timetable.
func (s *Schedule) Tick(ctx context.Context) error {
	_, err := s.start(ctx, nil, false)
	stalled, counting := s.db.StalledTracking(ctx, s.now().Add(-stalledAfter))
	s.stalled.Set(float64(stalled))
	return errors.Join(err, counting)
}

// Prune deletes jobs that ended long ago, with their runs: a daily task of a timetable.
func (s *Schedule) Prune(ctx context.Context) error {
	jobs, err := s.db.PruneTracking(ctx, s.now().AddDate(0, 0, -keptFor))
	if jobs > 0 {
		s.log.Info("old tracking jobs deleted", "jobs", jobs)
	}
	return err
}

// ForgetStalled is for a process that no longer keeps the schedule: the one that does reports what is stalled.
func (s *Schedule) ForgetStalled() { s.stalled.Set(0) }

// StartAll starts what was not asked in its slot yet, of an organization or of all (nil), without waiting for the
// minute.
func (s *Schedule) StartAll(ctx context.Context, organization *uuid.UUID) (Report, error) {
	report, err := s.start(ctx, organization, true)
	if err == nil {
		report.Organizations, err = s.db.OrganizationCount(ctx, organization)
	}
	return report, err
}

func (s *Schedule) start(ctx context.Context, organization *uuid.UUID, onDemand bool) (report Report, err error) {
	now := s.now().UTC()
	rows, err := s.db.ScheduledPlatforms(ctx, organization, onDemand, now)
	if err != nil {
		return report, err
	}
	for from := 0; from < len(rows) && ctx.Err() == nil; {
		to := from + 1
		for to < len(rows) && rows[to].BrandID == rows[from].BrandID {
			to++
		}
		if err := s.startBrand(ctx, rows[from:to], now, onDemand, &report); err != nil {
			return report, err
		}
		from = to
	}
	return report, context.Cause(ctx)
}

// startBrand starts a job of what is due of a brand's platforms. The error is of the stores: one that is the brand's
// alone stops no other.
func (s *Schedule) startBrand(ctx context.Context, rows []postgres.ScheduledPlatform, now time.Time, onDemand bool, report *Report) error {
	due, next, later := dueAt(now, rows, onDemand)
	if len(later) > 0 {
		if err := s.db.SetChecked(ctx, later, nil); err != nil {
			return err
		}
	}
	if len(due) == 0 {
		return nil
	}
	report.BrandsDue++
	id := rows[0].BrandID
	var started uuid.UUID
	var refused []Refusal
	brand, err := s.db.Brand(ctx, rows[0].OrganizationID, id)
	if err == nil {
		started, refused, err = s.jobs.StartDue(ctx, brand, due)
	}
	if err != nil && (ctx.Err() != nil || postgres.IsTransient(err)) {
		return err
	}
	if err == nil {
		s.log.Info("tracking job started by schedule", "brand", brand.Slug, "job", started)
		report.Jobs = append(report.Jobs, Started{id, started})
		return s.setChecked(ctx, rows, next, refused, now)
	}
	reason, wait := reasonOf(err)
	report.Skipped = append(report.Skipped, Skipped{id, reason})
	if errors.Is(err, postgres.ErrAsked) {
		return s.setChecked(ctx, rows, next, refused, now)
	}
	s.log.Warn("brand is due and is not asked", "brand", id, "cause", err, "next", "do what the cause says; it is tried again within the hour")
	for row := range next {
		next[row] = now.Add(wait)
	}
	return s.db.SetChecked(ctx, next, nil)
}

// setChecked says that a brand's platforms were asked now; those that were refused are tried again.
func (s *Schedule) setChecked(ctx context.Context, rows []postgres.ScheduledPlatform, next map[uuid.UUID]time.Time, refused []Refusal, now time.Time) error {
	again := map[uuid.UUID]time.Time{}
	for _, r := range refused {
		s.log.Warn("platform is due and is not asked", "brand", rows[0].BrandID, "platform", r.Platform, "cause", r.Reason,
			"next", "do what the cause says; it is tried again within the hour")
		for _, row := range rows {
			if _, due := next[row.ID]; due && row.Platform == r.Platform {
				again[row.ID] = now.Add(skippedFor)
				delete(next, row.ID)
			}
		}
	}
	return errors.Join(s.db.SetChecked(ctx, next, &now), s.db.SetChecked(ctx, again, nil))
}

// reasonOf is why a brand is skipped, and how long until it is tried again.
func reasonOf(err error) (string, time.Duration) {
	if over, ok := errors.AsType[*postgres.BudgetError](err); ok {
		return over.Error(), skippedFor
	}
	if errors.Is(err, postgres.ErrAsked) {
		return postgres.ErrAsked.Error(), skippedFor
	}
	kind, public := problem.Of(err)
	if kind == problem.Internal || kind == problem.Unavailable {
		return public, failedFor
	}
	return public, skippedFor
}

// dueAt says which of a brand's platforms are due, each with its slot, and when those are due next; and when the others
// are due. On demand a platform is due that was not asked in its slot, else only from the brand's minute on, or if it
// was never asked.
func dueAt(now time.Time, rows []postgres.ScheduledPlatform, onDemand bool) (due []Due, next, later map[uuid.UUID]time.Time) {
	next, later = map[uuid.UUID]time.Time{}, map[uuid.UUID]time.Time{}
	for _, r := range rows {
		zone, err := time.LoadLocation(r.TimeZone)
		if err != nil {
			zone = time.UTC // one that this machine does not know
		}
		slot, wait := slotOf(r.CheckFrequency, now, zone), spread(r.BrandID)
		following := after(r.CheckFrequency, slot, zone).Add(wait)
		switch {
		case r.LastCheckedAt != nil && !r.LastCheckedAt.Before(slot):
			later[r.ID] = following
		case onDemand || r.LastCheckedAt == nil || !now.Before(slot.Add(wait)):
			due = append(due, Due{Platform: r.Platform, Model: r.Model, Slot: startOf(slot, now, zone).UTC()})
			next[r.ID] = following
		default:
			later[r.ID] = slot.Add(wait)
		}
	}
	return due, next, later
}
