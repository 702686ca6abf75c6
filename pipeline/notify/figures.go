package notify

import (
	"context"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// warehouse reads figures and answers of brands by the queries that /api/v1 sends.
type warehouse struct {
	conn *clickhouse.Conn
	db   *postgres.DB
}

// basket returns the answers of some days by which mention rates are judged.
func (w warehouse) basket(
	ctx context.Context, brand postgres.Brand, from, to verdict.Day, withCompetitors bool,
) (*verdict.Basket, error) {
	basket, err := clickhouse.Basket(ctx, w.conn, clickhouse.CellFilter{
		Filter: filterOf(brand, from, to), Metric: clickhouse.Watched, Competitors: withCompetitors,
	}, from, to)
	if err != nil {
		return nil, err
	}
	changes, err := w.db.PlatformChanges(ctx, from.Time(), to.Time())
	for _, c := range changes {
		basket.PlatformChanged(c.Platform, verdict.DayOf(c.Day))
	}
	return basket, err
}

// A part is a brand's answers, all or on one platform or topic, or a competitor over all of them.
type part struct{ dimension, key string }

const byCompetitor = "competitor"

// figures are how often answers of some days name the brand, by part, or a competitor.
type figures struct {
	byPart      map[part]feed.Figure
	competitors []feed.Competitor // by name
}

func (w warehouse) figures(
	ctx context.Context, brand postgres.Brand, from, to verdict.Day, groupings ...clickhouse.GroupBy,
) (figures, error) {
	f := figures{byPart: map[part]feed.Figure{}}
	for _, by := range groupings {
		rows, err := clickhouse.EntityVisibility.All(ctx, w.conn,
			clickhouse.GroupFilter{Filter: filterOf(brand, from, to), GroupBy: by})
		if err != nil {
			return f, err
		}
		for _, e := range rows {
			figure := feed.Figure{Rate: e.MentionRatePct, Low: e.MentionRateLow, High: e.MentionRateHigh, N: e.Answers}
			switch {
			case e.IsBrand:
				f.byPart[part{string(by), e.Group}] = figure
			case by == clickhouse.NoGroups:
				f.byPart[part{byCompetitor, e.ID.String()}] = figure
				f.competitors = append(f.competitors,
					feed.Competitor{ID: uuid.UUID(e.ID), Name: e.Name, Figure: figure})
			}
		}
	}
	return f, nil
}

// isSimulated reports whether the simulator made answers of some days.
func (w warehouse) isSimulated(ctx context.Context, brand postgres.Brand, from, to verdict.Day) (bool, error) {
	values, err := clickhouse.SimulatedAnswers.All(ctx, w.conn, filterOf(brand, from, to))
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
