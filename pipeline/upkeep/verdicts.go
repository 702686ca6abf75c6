package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// ErrChecking means that another process checks verdicts.
var ErrChecking = errors.New("another process checks verdicts: run this again when it has ended")

// Verdicts measures how often the rule of verdicts is wrong, on the answers of all active brands: relabelled so that
// nothing changed, and as they came. Its counts are stored once all brands are done, so a check that was interrupted is
// run again. Of any number of processes one at a time checks.
type Verdicts struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       func() time.Time
	log       *slog.Logger
}

// NewVerdicts returns a Verdicts. now is the clock.
func NewVerdicts(db *postgres.DB, warehouse *clickhouse.Conn, now func() time.Time, log *slog.Logger) *Verdicts {
	return &Verdicts{db, warehouse, now, log}
}

// progressInterval is the time between two lines of progress in the log.
const progressInterval = time.Minute

// Nightly checks the verdicts up to yesterday's, unless another process does.
func (v *Verdicts) Nightly(ctx context.Context) error {
	logged := time.Now()
	_, err := v.Check(ctx, func(done, total int) {
		if time.Since(logged) >= progressInterval {
			logged = time.Now()
			v.log.Info("checking verdicts", "brands", done, "of", total)
		}
	})
	if errors.Is(err, ErrChecking) {
		v.log.Info("verdicts are not checked", "reason", err)
		return nil
	}
	return err
}

// Check checks the verdicts up to yesterday's, stores the counts and returns them. An earlier check of the same day is
// replaced. step is called after each brand.
func (v *Verdicts) Check(ctx context.Context, step func(done, total int)) (_ []postgres.VerdictCheck, err error) {
	leader := v.db.NewLeader("verdict checks")
	defer func() { err = errors.Join(err, leader.Close()) }()
	if err := takeLead(ctx, leader); err != nil {
		return nil, err
	}
	brands, err := v.brands(ctx)
	if err != nil {
		return nil, err
	}
	last := verdict.DayOf(v.now()) - 1
	first := last - verdict.CheckedDays + 1
	changes, err := v.db.PlatformChanges(ctx, first.Time(), last.Time())
	if err != nil {
		return nil, err
	}
	check := verdict.Check{}
	for i, brand := range brands {
		basket, err := clickhouse.Basket(ctx, v.warehouse, clickhouse.CellFilter{Metric: clickhouse.Score,
			Filter: clickhouse.Filter{
				OrganizationID: clickhouse.UUID(brand.OrganizationID), BrandID: clickhouse.UUID(brand.ID),
				DateFrom: clickhouse.DayOf(first.Time()), DateTo: clickhouse.DayOf(last.Time()),
			}}, first, last)
		if err != nil {
			return nil, fmt.Errorf("check verdicts of brand %s: %w", brand.ID, err)
		}
		for _, c := range changes {
			basket.AddPlatformChange(c.Platform, verdict.DayOf(c.Day))
		}
		check.Add(basket, last, brand.ID.String())
		step(i+1, len(brands))
	}
	if err := v.db.StoreVerdictChecks(ctx, last.Time(), storedChecks(check)); err != nil {
		return nil, err
	}
	return v.db.VerdictChecks(ctx, last.Time(), last.Time())
}

// takeLead waits a moment for a check that has just ended, since PostgreSQL frees its lock a little later.
func takeLead(ctx context.Context, leader *postgres.Leader) error {
	for range 10 {
		if leads, err := leader.Leads(ctx); err != nil || leads {
			return err
		}
		if err := lifecycle.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return ErrChecking
}

// brands returns the active brands of every organization. Canary panels have no verdicts.
func (v *Verdicts) brands(ctx context.Context) (active []postgres.Brand, err error) {
	organizations, err := v.db.ListOrganizations(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range organizations {
		brands, err := v.db.Brands(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		active = append(active, slices.DeleteFunc(brands, func(b postgres.Brand) bool {
			return !b.IsActive || b.OrganizationID == postgres.PanelOrganization
		})...)
	}
	return active, nil
}

// storedChecks returns the counts, zeros too.
func storedChecks(check verdict.Check) (counts []postgres.VerdictCheck) {
	for _, kind := range verdict.CheckKinds {
		n := check[kind]
		counts = append(counts, postgres.VerdictCheck{
			Relabelling: kind.Relabelling, Reach: kind.Reach, Rows: n.Rows, Looks: n.Looks,
			AlarmedLooks: n.AlarmedLooks, AlarmedRowQuarters: n.AlarmedRows, Moves: n.Moves, HeldMoves: n.HeldMoves,
		})
	}
	return counts
}
