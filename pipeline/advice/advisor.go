package advice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	quiet        = time.Minute // without a landed answer, before a brand is computed
	brandTimeout = time.Minute
)

// An Advisor computes the suggestions of brands, one brand after the other, and stores them.
type Advisor struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       func() time.Time
	pause     func(context.Context, time.Duration) error
	find      func(context.Context, *clickhouse.Conn, Brand, Window) ([]Result, error)
	log       *slog.Logger
}

// New returns an Advisor, two methods of which are tasks of a timetable.
func New(db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time, log *slog.Logger) *Advisor {
	return &Advisor{db, warehouse, now, lifecycle.Pause, find, log}
}

// Changed computes the brands whose answers, names, competitors or prompts differ from the last time, once nothing of
// theirs has changed for a minute.
func (a *Advisor) Changed(ctx context.Context) error {
	before, err := a.due(ctx, false)
	if err != nil || len(before) == 0 {
		return err
	}
	if err := a.pause(ctx, quiet); err != nil {
		return err
	}
	due, err := a.due(ctx, false)
	if err != nil {
		return err
	}
	settled := slices.DeleteFunc(due, func(d postgres.DueAdvice) bool {
		return !slices.ContainsFunc(before, func(b postgres.DueAdvice) bool {
			return b.BrandID == d.BrandID && string(b.Inputs) == string(d.Inputs)
		})
	})
	return a.adviseAll(ctx, settled[:min(len(settled), brandsAtOnce)])
}

// brandsAtOnce is how many changed brands are computed, in about a minute, before due brands are listed again: an
// organization that adds thousands does not hold up another one that adds one meanwhile.
const brandsAtOnce = 400

// Nightly computes all brands, since the window has moved, and deletes what expired long ago.
func (a *Advisor) Nightly(ctx context.Context) error {
	due, err := a.due(ctx, true)
	if err != nil {
		return err
	}
	return errors.Join(a.adviseAll(ctx, due), a.db.PruneSuggestions(ctx, a.now()))
}

// Advise computes one brand now; ErrNotFound of postgres if it does not exist.
func (a *Advisor) Advise(ctx context.Context, brand uuid.UUID) error {
	landed, err := a.landed(ctx)
	if err != nil {
		return err
	}
	due, err := a.db.BrandToAdvise(ctx, landed, versions, brand)
	if err != nil {
		return err
	}
	return a.advise(ctx, due)
}

// adviseAll computes brands. An error of one brand does not stop the others.
func (a *Advisor) adviseAll(ctx context.Context, due []postgres.DueAdvice) error {
	var errs []error
	for _, d := range due {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := a.advise(ctx, d); !errors.Is(err, postgres.ErrNotFound) { // else it was deleted
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

var versions = postgres.AdviceVersions{Rules: RulesVersion, Extract: extract.Version}

func (a *Advisor) due(ctx context.Context, all bool) ([]postgres.DueAdvice, error) {
	landed, err := a.landed(ctx)
	if err != nil {
		return nil, err
	}
	return a.db.BrandsToAdvise(ctx, landed, versions, all)
}

// landed returns the brands with answers that can still be read again. In frozen months no reading changes.
func (a *Advisor) landed(ctx context.Context) ([]postgres.LandedBrand, error) {
	since, err := a.db.FrozenBefore(ctx, event.TopicAnswers)
	if err != nil {
		return nil, err
	}
	if since.IsZero() {
		since = time.Unix(0, 0)
	}
	rows, err := clickhouse.StaleBrands(ctx, a.warehouse, since)
	landed := make([]postgres.LandedBrand, len(rows))
	for i, r := range rows {
		landed[i] = postgres.LandedBrand{
			BrandID: uuid.UUID(r.BrandID), Checksum: strconv.FormatUint(r.Checksum, 16),
			Revision: r.Revision, ExtractVersion: int(r.ExtractVersion),
		}
	}
	return landed, err
}

// advise computes a brand and stores its suggestions.
func (a *Advisor) advise(ctx context.Context, due postgres.DueAdvice) error {
	ctx, cancel := context.WithTimeoutCause(ctx, brandTimeout,
		fmt.Errorf("suggestions of brand %s took over %v", due.BrandID, brandTimeout))
	defer cancel()
	now := a.now().UTC()
	window := WindowTo(now.AddDate(0, 0, -1))
	brand, err := a.brand(ctx, due.BrandID)
	if err != nil {
		return err
	}
	results, err := a.find(ctx, a.warehouse, brand, window)
	if err != nil {
		return fmt.Errorf("compute suggestions of brand %s: %w", due.BrandID, errors.Join(err, context.Cause(ctx)))
	}
	advice := postgres.Advice{
		DueAdvice: due, RulesVersion: RulesVersion, From: window.From, To: window.To, Window: window, ComputedAt: now,
		Tracked: brand.foldedNames(),
	}
	suggestions, totals, reasons := []Suggestion{}, []Total{}, []Reason{}
	for _, r := range results {
		if r, err = r.storable(); err != nil {
			return err
		}
		suggestions, reasons = append(suggestions, r.Suggestions...), append(reasons, r.Reasons...)
		totals = append(totals, r.Total)
	}
	advice.Suggestions, advice.Totals, advice.Reasons = suggestions, totals, reasons
	if err := a.db.StoreAdvice(ctx, advice); err != nil {
		return err
	}
	a.log.Debug("suggestions computed", "brand", brand.Slug, "suggestions", len(suggestions), "took", time.Since(now))
	return nil
}

// brand reads what the rules need to know of a brand.
func (a *Advisor) brand(ctx context.Context, id uuid.UUID) (b Brand, err error) {
	if b.Snapshot, err = a.db.Snapshot(ctx, id); err != nil {
		return b, err
	}
	b.Prompts, err = a.db.Prompts(ctx, id)
	return b, err
}
