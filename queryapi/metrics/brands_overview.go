package metrics

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// overviewBody answers GET /api/v1/brands-overview.
type overviewBody struct {
	Metric  clickhouse.Metric `json:"metric"` // of the changes
	Window  windowBody        `json:"window"`
	Compare windowBody        `json:"compare"` // the days before, of the changes
	Month   string            `json:"month"`   // of the costs: 2026-03
	Counts  overviewCounts    `json:"counts"`
	Brands  []overviewBrand   `json:"brands"`
}

type overviewCounts struct {
	Brands    int `json:"brands"`
	MovedUp   int `json:"moved_up"`
	MovedDown int `json:"moved_down"`
	Late      int `json:"late"`
}

type overviewBrand struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	Slug           string       `json:"slug"`
	Answers        int64        `json:"result_count"`
	MentionAnswers int64        `json:"mention_answers"`
	Rate           *float64     `json:"mention_rate_pct"`
	RateInterval   *interval    `json:"mention_rate_interval"`
	Change         Change       `json:"change"`
	Leader         *leader      `json:"leader"` // null: no answer names a competitor
	Visits         int64        `json:"visits"`
	VisitsBefore   int64        `json:"visits_before"` // of as many days before the window
	VisitsChange   int64        `json:"visits_change"`
	LastAnswerAt   *instant     `json:"last_answer_at"`
	NextRunAt      *instant     `json:"next_run_at"`
	Late           bool         `json:"late"` // than its schedule
	CostUSD        json.Number  `json:"cost_usd"`
	Buckets        []rateBucket `json:"buckets"` // the last days of the window
}

// A leader is the competitor that a brand's answers name most often.
type leader struct {
	ID   string   `json:"competitor_id"`
	Name string   `json:"name"`
	Rate *float64 `json:"mention_rate_pct"`
	Gap  *rateGap `json:"gap"`
}

type rateBucket struct {
	Date     string    `json:"date"`
	Answers  int64     `json:"result_count"`
	Rate     *float64  `json:"mention_rate_pct"`
	Interval *interval `json:"mention_rate_interval"`
}

const (
	overviewDays    = 28            // that have a bucket
	maxOverviewDays = 92            // of a window: the days of all brands are in memory at once
	lateAfter       = 6 * time.Hour // is what a run may take beyond the time between two runs
)

// overviewRows has rows by brand; a brand has at most one standing, count of visits and last answer.
type overviewRows struct {
	standings map[clickhouse.UUID][]clickhouse.BrandStanding
	days      map[clickhouse.UUID][]clickhouse.BrandDay
	visits    map[clickhouse.UUID][]clickhouse.BrandVisits
	answers   map[clickhouse.UUID][]clickhouse.LastAnswer
	costs     map[uuid.UUID][]postgres.TrackingDay
	schedules map[uuid.UUID][]postgres.BrandSchedule
	baskets   map[clickhouse.UUID]*verdict.Basket
	changes   []postgres.PlatformChange
}

func (a *API) brandsOverview(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, metric := q.commonOfBrands(a.now(), maxOverviewDays), q.metric()
	by := q.oneOf("sort_by", "change", "name", "rate", "gap", "visits", "last_answer", "cost")
	descending := q.oneOf("order", "desc", "asc") == "desc"
	if err := q.check(); err != nil {
		return nil, err
	}
	brands, err := a.db.Brands(ctx, caller.OrganizationID)
	if err != nil {
		return nil, err
	}
	w := p.window.comparedWith(p.window.usualCompareDays())
	body := overviewBody{
		Metric: metric, Window: p.window.body(),
		Compare: p.window.daysBefore(w.CompareDays).body(),
		Month:   clickhouse.MonthOf(a.now()).String(), Brands: make([]overviewBrand, len(brands)),
	}
	rows, err := a.overviewRows(ctx, p, caller.OrganizationID, brands, metric, w)
	if err != nil {
		return nil, err
	}
	list := make([]*verdict.Verdict, len(brands))
	for i, b := range brands {
		if err := ctx.Err(); err != nil { // an organization may have many brands
			return nil, err
		}
		list[i] = new(rows.judge(w, clickhouse.UUID(b.ID)))
	}
	verdict.Adjust(list)
	for i, b := range brands {
		row := &body.Brands[i]
		*row = rows.brand(b, a.now())
		row.Change = newChange(*list[i])
		body.Counts.add(*row)
	}
	sortBrands(body.Brands, by, descending)
	return body, nil
}

func (a *API) overviewRows(
	ctx context.Context, p commonParams, organization uuid.UUID, brands []postgres.Brand, metric clickhouse.Metric,
	w verdict.Window,
) (rows overviewRows, err error) {
	ids, brandIDs := make([]clickhouse.UUID, len(brands)), make([]uuid.UUID, len(brands))
	for i, b := range brands {
		ids[i], brandIDs[i] = clickhouse.UUID(b.ID), b.ID
	}
	filter := p.filter(organization).ForBrands(ids...)
	days := filter
	days.DateFrom = dateOf(later(p.window.from, p.window.to.AddDate(0, 0, 1-overviewDays)))
	cells := clickhouse.BrandCellFilter{BrandsFilter: filter, Metric: metric}
	cells.DateFrom = dateOf(w.Earliest().Time())
	month := clickhouse.MonthOf(a.now()).First()
	var standings []clickhouse.BrandStanding
	var brandDays []clickhouse.BrandDay
	var visits []clickhouse.BrandVisits
	var answers []clickhouse.LastAnswer
	var costs []postgres.TrackingDay
	var schedules []postgres.BrandSchedule
	err = a.runAll(ctx,
		func(ctx context.Context, conn *clickhouse.Conn) (err error) {
			rows.baskets, err = clickhouse.Baskets(ctx, conn, cells, w.Earliest(), w.To)
			return err
		},
		fetch(&standings, clickhouse.BrandsStanding, filter),
		fetch(&brandDays, clickhouse.BrandsTrend, days),
		fetch(&visits, clickhouse.BrandsVisits, clickhouse.BrandsVisitFilter{
			OrganizationID: filter.OrganizationID, Brands: ids,
			BeforeFrom: dateOf(p.window.before(int(p.window.days()))),
			DateFrom:   filter.DateFrom, DateTo: filter.DateTo, Platforms: filter.Platforms,
		}),
		fetch(&answers, clickhouse.LastAnswers, clickhouse.Brands{
			OrganizationID: filter.OrganizationID, Brands: ids,
			DateFrom: clickhouse.DayOf(a.now().AddDate(0, 0, -maxDays)),
		}),
		func(ctx context.Context, _ *clickhouse.Conn) (err error) {
			costs, err = a.db.TrackingSpending(ctx, organization, month, month.AddDate(0, 1, -1), brandIDs...)
			return err
		},
		func(ctx context.Context, _ *clickhouse.Conn) (err error) {
			schedules, err = a.db.BrandSchedules(ctx, organization)
			return err
		},
		func(ctx context.Context, _ *clickhouse.Conn) (err error) {
			rows.changes, err = a.db.PlatformChanges(ctx, w.Earliest().Time(), w.To.Time())
			return err
		})
	rows.standings = rowsBy(standings, func(s clickhouse.BrandStanding) clickhouse.UUID { return s.BrandID })
	rows.days = rowsBy(brandDays, func(d clickhouse.BrandDay) clickhouse.UUID { return d.BrandID })
	rows.visits = rowsBy(visits, func(v clickhouse.BrandVisits) clickhouse.UUID { return v.BrandID })
	rows.answers = rowsBy(answers, func(l clickhouse.LastAnswer) clickhouse.UUID { return l.BrandID })
	rows.costs = rowsBy(costs, func(c postgres.TrackingDay) uuid.UUID { return c.BrandID })
	rows.schedules = rowsBy(schedules, func(s postgres.BrandSchedule) uuid.UUID { return s.BrandID })
	return rows, err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// judge returns the verdict on all answers of a brand.
func (r overviewRows) judge(w verdict.Window, brand clickhouse.UUID) verdict.Verdict {
	basket := r.baskets[brand]
	if basket == nil {
		basket = verdict.NewBasket(w.Earliest(), w.To, nil, nil)
	}
	for _, c := range r.changes {
		basket.AddPlatformChange(c.Platform, verdict.DayOf(c.Day))
	}
	return basket.Judge(w, verdict.Row{Entity: brand.String()})
}

// brand returns the row of a brand, without its change.
func (r overviewRows) brand(b postgres.Brand, now time.Time) overviewBrand {
	id := clickhouse.UUID(b.ID)
	row := overviewBrand{ID: id.String(), Name: b.Name, Slug: b.Slug, Buckets: []rateBucket{}}
	for _, s := range r.standings[id] {
		row.Answers, row.MentionAnswers, row.Rate = s.Answers, s.MentionAnswers, s.Rate
		row.RateInterval, row.Leader = intervalOver(s.Answers, s.RateLow, s.RateHigh), newLeader(s)
	}
	for _, d := range r.days[id] {
		row.Buckets = append(row.Buckets,
			rateBucket{dayText(d.Day), d.Answers, d.Rate, intervalOver(d.Answers, d.RateLow, d.RateHigh)})
	}
	for _, v := range r.visits[id] {
		row.Visits, row.VisitsBefore, row.VisitsChange = v.Visits, v.Before, v.Visits-v.Before
	}
	for _, l := range r.answers[id] {
		row.LastAnswerAt = new(instant(l.AnsweredAt))
	}
	row.CostUSD = json.Number(postgres.TotalCost(r.costs[b.ID]))
	for _, s := range r.schedules[b.ID] {
		row.schedule(s, now)
	}
	return row
}

// schedule sets when the brand is asked next, and whether it is late, by the schedule of one of its platforms.
func (b *overviewBrand) schedule(s postgres.BrandSchedule, now time.Time) {
	last := s.ScheduledAt
	if b.LastAnswerAt != nil {
		last = later(last, time.Time(*b.LastAnswerAt))
	}
	b.Late = b.Late || now.Sub(last) > time.Duration(s.Hours)*time.Hour+lateAfter
	if s.NextCheckAt != nil && (b.NextRunAt == nil || s.NextCheckAt.Before(time.Time(*b.NextRunAt))) {
		b.NextRunAt = new(instant(*s.NextCheckAt))
	}
}

func newLeader(s clickhouse.BrandStanding) *leader {
	if s.LeaderID == (clickhouse.UUID{}) {
		return nil
	}
	return &leader{s.LeaderID.String(), s.LeaderName, s.LeaderRate, newRateGap(s.Answers, s.RateGap)}
}

func (c *overviewCounts) add(b overviewBrand) {
	c.Brands++
	switch b.Change.Verdict {
	case verdict.MovedUp:
		c.MovedUp++
	case verdict.MovedDown:
		c.MovedDown++
	}
	if b.Late {
		c.Late++
	}
}

// sortBrands sorts brands that come by name, by a figure. Those that lack it are last in both orders.
func sortBrands(brands []overviewBrand, by string, descending bool) {
	if by == "name" {
		if descending {
			slices.Reverse(brands)
		}
		return
	}
	figure := map[string]func(overviewBrand) *float64{
		"change": func(b overviewBrand) *float64 { return b.Change.urgency() },
		"rate":   func(b overviewBrand) *float64 { return b.Rate },
		"gap":    overviewBrand.gap,
		"visits": func(b overviewBrand) *float64 { return new(float64(b.Visits)) },
		"cost":   overviewBrand.cost,
		"last_answer": func(b overviewBrand) *float64 {
			if b.LastAnswerAt == nil {
				return nil
			}
			return new(float64(time.Time(*b.LastAnswerAt).UnixMilli()))
		},
	}[by]
	slices.SortStableFunc(brands, func(a, b overviewBrand) int {
		x, y := figure(a), figure(b)
		switch {
		case x == nil && y == nil:
			return 0
		case x == nil:
			return 1
		case y == nil:
			return -1
		case descending:
			return cmp.Compare(*y, *x)
		}
		return cmp.Compare(*x, *y)
	})
}

// urgency sorts changes: by the size of the difference, for a move since its day, with moves down above all others. It
// is nil without a difference.
func (c Change) urgency() *float64 {
	difference := c.Difference
	if c.Since != nil {
		difference = &c.Since.Difference
	}
	switch {
	case difference == nil:
		return nil
	case c.Verdict == verdict.MovedDown:
		return new(100 + math.Abs(*difference))
	}
	return new(math.Abs(*difference))
}

func (b overviewBrand) gap() *float64 {
	if b.Leader == nil {
		return nil
	}
	return b.Leader.Gap.Difference
}

func (b overviewBrand) cost() *float64 {
	cost, _ := b.CostUSD.Float64() // ours
	return &cost
}
