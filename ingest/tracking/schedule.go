package tracking

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	// ScheduleInterval is the time between two calls of Schedule.Tick.
	ScheduleInterval = 10 * time.Second

	refusedDelay = time.Hour        // until a brand or platform that could not be asked is tried again
	failedDelay  = time.Minute      // the same, where the cause is not the brand's
	stalledAfter = 30 * time.Minute // without progress
	keepDays     = 90               // from its end until a job is deleted; what it spent, and its answers, stay
)

// Schedule starts jobs of the brands that are due. It is safe for concurrent use.
//
// A platform of a brand is due once a slot: an hour, day, week or month of the organization's time zone, some minutes
// after its start, which differ by brand. After an outage a brand is asked once, for the present slot. The runs of a
// slot have the same ids whenever they are started, so a slot that is started twice is asked once.
type Schedule struct {
	db      *postgres.DB
	jobs    *Jobs
	now     func() time.Time
	log     *slog.Logger
	stalled prometheus.Gauge
	removed sync.Once // logs that the canary panel was removed
}

// NewSchedule returns a schedule, which runs as tasks of a timetable.
func NewSchedule(
	db *postgres.DB, jobs *Jobs, now func() time.Time, registerer prometheus.Registerer, log *slog.Logger,
) *Schedule {
	return &Schedule{db, jobs, now, log, promauto.With(registerer).NewGauge(prometheus.GaugeOpts{
		Name: "answerscope_tracking_stalled_jobs",
		Help: "Running tracking jobs that have not moved for half an hour, " +
			"as the process that keeps the schedule sees it.",
	}), sync.Once{}}
}

// Report lists what a schedule has started.
type Report struct {
	Organizations int       `json:"organizations"` // that were looked at
	BrandsDue     int       `json:"brandsDue"`
	Jobs          []Started `json:"jobs"`
	Skipped       []Skipped `json:"skipped"`
}

// Started is a job that was started for a brand.
type Started struct {
	BrandID uuid.UUID `json:"brandId"`
	JobID   uuid.UUID `json:"jobId"`
}

// Skipped is a brand that is not asked, with the reason.
type Skipped struct {
	BrandID uuid.UUID `json:"brandId"`
	Reason  string    `json:"reason"`
}

// Tick starts jobs of the brands that are due now, and counts stalled jobs.
func (s *Schedule) Tick(ctx context.Context) error {
	_, err := s.start(ctx, nil, nil, false)
	stalled, countErr := s.db.StalledTracking(ctx, s.now().Add(-stalledAfter))
	s.stalled.Set(float64(stalled))
	return errors.Join(err, countErr)
}

// Prune deletes jobs that ended long ago, with their runs.
func (s *Schedule) Prune(ctx context.Context) error {
	jobs, err := s.db.PruneTracking(ctx, s.now().AddDate(0, 0, -keepDays))
	if jobs > 0 {
		s.log.Info("old tracking jobs deleted", "jobs", jobs)
	}
	return err
}

// ForgetStalled clears the gauge on a process that has lost the schedule: the next one reports them.
func (s *Schedule) ForgetStalled() { s.stalled.Set(0) }

// StartAll starts jobs of all brands that were not asked in their present slot, before their minute, too: of a brand,
// of an organization, or of every one (nil and nil).
func (s *Schedule) StartAll(ctx context.Context, organization, brand *uuid.UUID) (Report, error) {
	report, err := s.start(ctx, organization, brand, true)
	if brand != nil {
		report.Organizations = min(1, len(report.Jobs)+len(report.Skipped)) // it is in one, if it exists
		return report, err
	}
	if err == nil {
		report.Organizations, err = s.db.OrganizationCount(ctx, organization)
	}
	return report, err
}

func (s *Schedule) start(ctx context.Context, organization, brand *uuid.UUID, onDemand bool) (Report, error) {
	now := s.now().UTC().Truncate(time.Microsecond) // PostgreSQL's precision
	p := &schedulePass{s, now, onDemand, Report{Jobs: []Started{}, Skipped: []Skipped{}}}
	rows, err := s.db.ScheduledPlatforms(ctx, organization, brand, onDemand, p.now)
	if err != nil {
		return p.report, err
	}
	for start, end := 0, 0; start < len(rows) && ctx.Err() == nil; start = end {
		for end < len(rows) && rows[end].BrandID == rows[start].BrandID {
			end++
		}
		if err := p.startBrand(ctx, rows[start:end]); err != nil {
			return p.report, err
		}
	}
	return p.report, context.Cause(ctx)
}

// schedulePass is one pass over the scheduled platforms of brands.
type schedulePass struct {
	*Schedule
	now      time.Time
	onDemand bool
	report   Report
}

// nextChecks has the times when scheduled platforms are due next.
type nextChecks map[uuid.UUID]time.Time

func (p *schedulePass) startBrand(ctx context.Context, rows []postgres.ScheduledPlatform) error {
	brand, reason := rows[0].BrandID, rows[0].NotDue
	rows = slices.DeleteFunc(rows, func(r postgres.ScheduledPlatform) bool { return r.NotDue != "" })
	targets, due, later := dueTargets(p.now, rows, p.onDemand)
	if len(targets) == 0 {
		p.skip(brand, cmp.Or(reason, postgres.ErrAsked.Error()))
	} else if err := p.startJob(ctx, rows, targets, due, later); err != nil {
		return err
	}
	var err error
	if len(due) > 0 {
		err = p.db.SetChecked(ctx, due, &p.now)
	}
	if len(later) > 0 {
		err = errors.Join(err, p.db.SetChecked(ctx, later, nil))
	}
	return err
}

// startJob starts a job for the targets of a brand, and moves platforms that were not asked from due to later. It fails
// only if PostgreSQL is away: an error that concerns this brand alone must not stop the others.
func (p *schedulePass) startJob(
	ctx context.Context, rows []postgres.ScheduledPlatform, targets []Target, due, later nextChecks,
) error {
	id := rows[0].BrandID
	var jobID uuid.UUID
	var refused []Refusal
	brand, err := p.db.Brand(ctx, rows[0].OrganizationID, id)
	if err == nil && rows[0].Platform == "" {
		targets, err = p.jobs.defaultTargets(ctx, brand.OrganizationID, targets[0].Slot)
	}
	if errors.Is(err, errNoDefault) {
		clear(due)
		p.skip(id, err.Error())
		return p.db.PostponeDefault(ctx, id, p.now.Add(refusedDelay))
	}
	p.report.BrandsDue++
	if err == nil {
		jobID, refused, err = p.jobs.StartDue(ctx, brand, targets)
	}
	if cause := p.emitSkips(ctx, id, targets, refused, err); cause != nil {
		if ctx.Err() != nil || postgres.IsTransient(cause) {
			return cause
		}
		p.log.Warn("event of a skipped brand not stored", "brand", id, "cause", cause,
			"next", "nothing: asking goes on; if this repeats, report the cause")
	}
	switch {
	case err == nil:
		p.log.Info("tracking job started by schedule", "brand", brand.Slug, "job", jobID)
		p.report.Jobs = append(p.report.Jobs, Started{id, jobID})
	case ctx.Err() != nil || postgres.IsTransient(err):
		return err
	case errors.Is(err, postgres.ErrAsked):
		p.skip(id, postgres.ErrAsked.Error())
	default:
		reason, delay := skipReason(err)
		p.skip(id, reason)
		p.log.Warn("brand is due and is not asked", "brand", id, "cause", err,
			"next", "do what the cause says; it is tried again within the hour")
		for row := range due {
			later[row] = p.now.Add(delay)
		}
		clear(due)
		return nil
	}
	for _, r := range refused {
		p.log.Warn("platform is due and is not asked", "brand", id, "platform", r.Platform, "cause", r.Reason,
			"next", "do what the cause says; it is tried again within the hour")
		for _, row := range rows {
			if _, isDue := due[row.ID]; isDue && row.Platform == r.Platform {
				later[row.ID] = p.now.Add(refusedDelay)
				delete(due, row.ID)
			}
		}
	}
	return nil
}

func (p *schedulePass) skip(brand uuid.UUID, reason string) {
	p.report.Skipped = append(p.report.Skipped, Skipped{brand, reason})
}

// Why platforms of a brand that are due are not asked, as events name it.
const (
	skippedForBudget  = "budget"
	skippedForKey     = "no_key"
	skippedForPrompts = "no_prompts"
)

// emitSkips emits an event for each reason for which targets are skipped.
func (p *schedulePass) emitSkips(
	ctx context.Context, brand uuid.UUID, targets []Target, refused []Refusal, cause error,
) (err error) {
	skipped := map[string][]string{}
	for _, r := range refused {
		skipped[r.cause] = append(skipped[r.cause], r.Platform)
	}
	var until *time.Time
	reason := ""
	if over, ok := errors.AsType[*postgres.BudgetError](cause); ok {
		reason, until = skippedForBudget, &over.Resets
	} else if kind, _ := problem.Of(cause); cause != nil && kind == problem.Conflict {
		reason = skippedForPrompts
	}
	for _, t := range targets {
		if reason != "" && !slices.Contains(skipped[reason], t.Platform) {
			skipped[reason] = append(skipped[reason], t.Platform)
		}
	}
	for reason, platforms := range skipped {
		err = errors.Join(err, p.db.EmitSkipped(ctx, brand, reason, platforms, until, p.now))
	}
	return err
}

// skipReason describes why a brand is skipped, and after what time it is tried again.
func skipReason(err error) (reason string, delay time.Duration) {
	if overBudget, ok := errors.AsType[*postgres.BudgetError](err); ok {
		return overBudget.Error(), refusedDelay
	}
	kind, public := problem.Of(err)
	if kind == problem.Internal || kind == problem.Unavailable {
		return public, failedDelay
	}
	return public, refusedDelay
}

// dueTargets returns the targets of a brand that are due, when those are due again, and when the others are due. A
// platform that was asked in its slot is not due. On demand every other one is; else from the brand's minute on, or if
// it was never asked.
func dueTargets(
	now time.Time, rows []postgres.ScheduledPlatform, onDemand bool,
) (targets []Target, due, later nextChecks) {
	due, later = nextChecks{}, nextChecks{}
	for _, r := range rows {
		zone, err := time.LoadLocation(r.TimeZone)
		if err != nil {
			zone = time.UTC // this machine does not know it
		}
		slot, offset := slotStart(r.CheckFrequency, now, zone), brandOffset(r.BrandID)
		next := nextSlot(r.CheckFrequency, slot, zone).Add(offset)
		switch {
		case r.LastCheckedAt != nil && !r.LastCheckedAt.Before(slot):
			later[r.ID] = next
		case onDemand || r.LastCheckedAt == nil || !now.Before(slot.Add(offset)):
			targets = append(targets, Target{r.Platform, r.Model, runSlot(slot, now, zone).UTC()})
			due[r.ID] = next
		default:
			later[r.ID] = slot.Add(offset)
		}
	}
	return targets, due, later
}
