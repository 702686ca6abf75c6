package notify

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A Reporter finds out what moved on a day and in a week, by the queries that /api/v1 sends, and emits events of it.
type Reporter struct {
	db   *postgres.DB
	conn *clickhouse.Conn
	now  func() time.Time
	log  *slog.Logger
}

// NewReporter returns a reporter, which runs as tasks of a timetable.
func NewReporter(db *postgres.DB, conn *clickhouse.Conn, now func() time.Time, log *slog.Logger) *Reporter {
	return &Reporter{db, conn, now, log}
}

// basket returns the answers of some days by which mention rates are judged.
func (r *Reporter) basket(
	ctx context.Context, brand postgres.Brand, from, to verdict.Day, withCompetitors bool,
) (*verdict.Basket, error) {
	basket, err := clickhouse.Basket(ctx, r.conn, clickhouse.CellFilter{
		Filter: filterOf(brand, from, to), Metric: clickhouse.Watched, Competitors: withCompetitors,
	}, from, to)
	if err != nil {
		return nil, err
	}
	changes, err := r.db.PlatformChanges(ctx, from.Time(), to.Time())
	for _, c := range changes {
		basket.AddPlatformChange(c.Platform, verdict.DayOf(c.Day))
	}
	return basket, err
}

// figures are how often answers of some days name the brand, among all, on a platform or of a topic, or a competitor
// among all.
type figures struct {
	byRow       map[verdict.Row]feed.Figure
	competitors []feed.Competitor // by name
	overviews   []feed.Overview   // by platform
}

func (r *Reporter) figures(
	ctx context.Context, brand postgres.Brand, from, to verdict.Day, groupings ...clickhouse.GroupBy,
) (figures, error) {
	f := figures{byRow: map[verdict.Row]feed.Figure{}}
	for _, by := range groupings {
		rows, err := clickhouse.EntityVisibility.All(ctx, r.conn,
			clickhouse.GroupFilter{Filter: filterOf(brand, from, to), GroupBy: by})
		if err != nil {
			return f, err
		}
		for _, e := range rows {
			figure := feed.Figure{Rate: e.MentionRatePct, Low: e.MentionRateLow, High: e.MentionRateHigh, N: e.Answers}
			f.byRow[verdict.Row{Entity: e.ID.String(), Dimension: verdict.Dimension(by), Key: e.Group}] = figure
			if by == clickhouse.ByPlatform && e.IsBrand && e.NotShown > 0 {
				f.overviews = append(f.overviews, feed.Overview{Platform: e.Group, Shown: e.Answers,
					Captures: e.Answers + e.NotShown, Low: e.ShownLow, High: e.ShownHigh})
			}
			if by == clickhouse.NoGroups && !e.IsBrand {
				f.competitors = append(f.competitors,
					feed.Competitor{ID: uuid.UUID(e.ID), Name: e.Name, Figure: figure})
			}
		}
	}
	return f, nil
}

// isSimulated reports whether the simulator made answers of some days.
func (r *Reporter) isSimulated(ctx context.Context, brand postgres.Brand, from, to verdict.Day) (bool, error) {
	values, err := clickhouse.SimulatedAnswers.All(ctx, r.conn, filterOf(brand, from, to))
	return slices.Contains(values, clickhouse.Simulated{Simulated: true}), err
}

// judged returns a verdict beside the figures of both sides.
func judged(v verdict.Verdict, now, before feed.Figure) feed.Judged {
	j := feed.Judged{Figure: now, From: before, Verdict: v.Verdict, Reach: v.Reach, Reason: v.Reason}
	if v.Since != nil {
		j.Since = dayText(v.Since.Day)
	}
	return j
}

func filterOf(brand postgres.Brand, from, to verdict.Day) clickhouse.Filter {
	return clickhouse.Filter{
		OrganizationID: clickhouse.UUID(brand.OrganizationID), BrandID: clickhouse.UUID(brand.ID),
		DateFrom: clickhouse.DayOf(from.Time()), DateTo: clickhouse.DayOf(to.Time()),
	}
}

func brandOf(b postgres.Brand) feed.Brand { return feed.Brand{ID: b.ID, Name: b.Name, Slug: b.Slug} }

func dayText(d verdict.Day) string { return d.Time().Format(time.DateOnly) }

func daysOf(from, to verdict.Day) feed.Days { return feed.Days{From: dayText(from), To: dayText(to)} }
