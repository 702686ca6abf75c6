package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	weekDays    = 7
	compareDays = 28 // before the week, as /api/v1 compares a week
	topRows     = 5

	// So that an event can hold the report:
	maxReportRows = 12  // of a list
	maxName       = 100 // bytes
)

// Weekly emits the report of last week for each brand that is due. A brand without answers gets one such report, until
// it has some.
func (r *Reporter) Weekly(ctx context.Context) error {
	due, err := r.db.DueReports(ctx, r.now())
	errs := []error{err}
	for _, d := range due {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		report, err := r.Report(ctx, d.Brand, d.Monday)
		if err == nil && (report.Answers > 0 || !d.LastEmpty) {
			err = r.Emit(ctx, d.Brand, report)
		}
		errs = append(errs, err) // what concerns a brand alone must not stop the others
	}
	return errors.Join(errs...)
}

// Emit emits the report of a brand, once a week.
func (r *Reporter) Emit(ctx context.Context, brand postgres.Brand, report feed.Report) error {
	added, err := r.db.Emit(ctx, postgres.Event{
		OrganizationID: brand.OrganizationID, BrandID: brand.ID, Type: feed.ReportWeekly, Data: report,
		Key: fmt.Sprintf("%s/%s/%s", feed.ReportWeekly, brand.ID, report.Week),
	})
	if added {
		r.log.Info("week reported", "brand", brand.Slug, "week", report.Week)
	}
	return err
}

// WeekText names the ISO week of a day: 2026-W46.
func WeekText(day time.Time) string {
	year, week := day.ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, week)
}

// ParseWeek returns the Monday of an ISO week, which must have ended; "" is the last one that has.
func ParseWeek(text string, now time.Time) (monday time.Time, err error) {
	last := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -weekDays)
	last = last.AddDate(0, 0, -int(last.Weekday()+weekDays-time.Monday)%weekDays)
	if text == "" {
		return last, nil
	}
	var year, week int
	_, err = fmt.Sscanf(text, "%d-W%d", &year, &week)
	monday = time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC) // a day of the first week
	monday = monday.AddDate(0, 0, weekDays*(week-1)-int(monday.Weekday()+weekDays-time.Monday)%weekDays)
	if err != nil || WeekText(monday) != text || monday.After(last) {
		return monday, fmt.Errorf("%q: want an ISO week that has ended, such as %s", text, WeekText(last))
	}
	return monday, nil
}

// Report returns the figures of a brand over the ISO week that begins on a UTC day.
func (r *Reporter) Report(ctx context.Context, brand postgres.Brand, monday time.Time) (feed.Report, error) {
	w := verdict.Window{From: verdict.DayOf(monday), To: verdict.DayOf(monday) + weekDays - 1, CompareDays: compareDays}
	report := feed.Report{
		Brand: brandOf(brand), Week: WeekText(monday), Window: daysOf(w.From, w.To),
		Before: daysOf(w.First(), w.From-1), Platforms: []feed.Row{}, Moves: []feed.Row{}, NotCompared: []feed.Row{},
		Competitors: []feed.Competitor{}, NewSources: []feed.Source{}, Overviews: []feed.Overview{},
	}
	report.Brand.Name = beginning(brand.Name)
	var err error
	if report.Failures, err = r.failures(ctx, brand, w); err != nil {
		return report, err
	}
	if report.Visits, err = r.visits(ctx, brand, w); err != nil {
		return report, err
	}
	groupings := []clickhouse.GroupBy{clickhouse.NoGroups, clickhouse.ByPlatform, clickhouse.ByTopic}
	now, err := r.figures(ctx, brand, w.From, w.To, groupings...)
	report.Overviews = append(report.Overviews, now.overviews[:min(len(now.overviews), maxReportRows)]...)
	all := verdict.Row{Entity: brand.ID.String()}
	if report.Answers = now.byRow[all].N; err != nil || report.Answers == 0 {
		return report, err
	}
	before, err := r.figures(ctx, brand, w.First(), w.From-1, groupings...)
	if err != nil {
		return report, err
	}
	if report.Simulated, err = r.isSimulated(ctx, brand, w.First(), w.To); err != nil {
		return report, err
	}
	report.Competitors = strongest(now.competitors)
	if report.NewSources, err = r.newSources(ctx, brand, w); err != nil {
		return report, err
	}
	return report, r.judgeWeek(ctx, &report, brand, w, now, before)
}

// judgeWeek adds the verdicts on all answers and, as a list, on each platform, topic and competitor.
func (r *Reporter) judgeWeek(
	ctx context.Context, report *feed.Report, brand postgres.Brand, w verdict.Window, now, before figures,
) error {
	basket, err := r.basket(ctx, brand, w.Earliest(), w.To, true)
	if err != nil {
		return err
	}
	names, err := clickhouse.RowNames.All(ctx, r.conn, clickhouse.BrandFilter{
		OrganizationID: clickhouse.UUID(brand.OrganizationID), BrandID: clickhouse.UUID(brand.ID)})
	if err != nil {
		return err
	}
	all := verdict.Row{Entity: brand.ID.String()}
	report.Overall = judged(basket.Judge(w, all), now.byRow[all], before.byRow[all])
	var rows []feed.Row
	var questions []verdict.Row
	for _, d := range []verdict.Dimension{verdict.ByPlatform, verdict.ByTopic} {
		for _, key := range basket.Keys(d) {
			name := beginning(nameOf(string(d), key, names))
			rows = append(rows, feed.Row{Dimension: string(d), Key: key, Name: name})
			questions = append(questions, verdict.Row{Entity: all.Entity, Dimension: d, Key: key})
		}
	}
	for _, c := range now.competitors {
		rows = append(rows, feed.Row{Dimension: "competitor", Key: c.ID.String(), Name: beginning(c.Name)})
		questions = append(questions, verdict.Row{Entity: c.ID.String()})
	}
	verdicts := basket.JudgeList(w, questions)
	moved := map[string]float64{} // by how many points, by key
	for i, row := range rows {
		row.Judged = judged(verdicts[i], now.byRow[questions[i]], before.byRow[questions[i]])
		if row.Dimension == string(verdict.ByPlatform) && row.N > 0 {
			report.Platforms = append(report.Platforms, row)
		}
		switch {
		case verdicts[i].Moved():
			moved[row.Key] = math.Abs(verdicts[i].Since.Difference)
			report.Moves = append(report.Moves, row)
		case row.Verdict != verdict.WithinNoise:
			report.NotCompared = append(report.NotCompared, row)
		}
	}
	slices.SortStableFunc(report.Platforms, func(a, b feed.Row) int { return cmp.Compare(b.N, a.N) })
	slices.SortStableFunc(report.Moves, func(a, b feed.Row) int { return cmp.Compare(moved[b.Key], moved[a.Key]) })
	report.More = max(0, len(report.Moves)-maxReportRows)
	for _, list := range []*[]feed.Row{&report.Platforms, &report.Moves, &report.NotCompared} {
		*list = (*list)[:min(len(*list), maxReportRows)]
	}
	return nil
}

func nameOf(dimension, key string, names []clickhouse.FilterValue) string {
	if dimension == string(verdict.ByPlatform) {
		return key
	}
	for _, n := range names {
		if n.Kind == dimension && n.Value == key {
			return *n.Name
		}
	}
	return "a deleted " + dimension
}

// strongest returns the competitors that are named most often. They come by name, which decides between equal ones.
func strongest(competitors []feed.Competitor) []feed.Competitor {
	named := slices.DeleteFunc(slices.Clone(competitors), func(c feed.Competitor) bool { return *c.Rate == 0 })
	slices.SortStableFunc(named, func(a, b feed.Competitor) int { return cmp.Compare(*b.Rate, *a.Rate) })
	named = named[:min(len(named), topRows)]
	for i := range named {
		named[i].Name = beginning(named[i].Name)
	}
	return named
}

// beginning cuts a name that is long.
func beginning(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}

func (r *Reporter) newSources(ctx context.Context, brand postgres.Brand, w verdict.Window) ([]feed.Source, error) {
	f := filterOf(brand, w.From, w.To)
	rows, err := clickhouse.NewSources.All(ctx, r.conn, clickhouse.NewSourceFilter{
		OrganizationID: f.OrganizationID, BrandID: f.BrandID, BeforeFrom: clickhouse.DayOf(w.First().Time()),
		DateFrom: f.DateFrom, DateTo: f.DateTo, Limit: topRows,
	})
	sources := []feed.Source{}
	for _, s := range rows {
		sources = append(sources, feed.Source{Domain: s.Domain, Answers: s.CitingAnswers})
	}
	return sources, err
}

// visits returns nil if the brand's site had none in the week and the one before: it may have no pixel.
func (r *Reporter) visits(ctx context.Context, brand postgres.Brand, w verdict.Window) (*feed.Visits, error) {
	f := filterOf(brand, w.From, w.To)
	rows, err := clickhouse.BrandsVisits.All(ctx, r.conn, clickhouse.BrandsVisitFilter{
		OrganizationID: f.OrganizationID, Brands: []clickhouse.UUID{f.BrandID},
		BeforeFrom: clickhouse.DayOf((w.From - weekDays).Time()), DateFrom: f.DateFrom, DateTo: f.DateTo,
	})
	if len(rows) == 0 {
		return nil, err
	}
	return &feed.Visits{Visits: rows[0].Visits, Before: rows[0].Before}, err
}

func (r *Reporter) failures(ctx context.Context, brand postgres.Brand, w verdict.Window) (f feed.Failures, err error) {
	text, err := r.db.Failures(ctx, brand.ID, w.From.Time(), (w.To + 1).Time())
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("read failures of brand %s: %w", brand.ID, err)
	}
	degraded, err := clickhouse.DegradedPlatforms.All(ctx, r.conn,
		clickhouse.RunFilter{Filter: filterOf(brand, w.From, w.To), Granularity: clickhouse.ByDay})
	for _, d := range degraded {
		at := slices.IndexFunc(f.Degraded, func(o feed.Outage) bool { return o.Platform == d.Platform })
		if at < 0 {
			at, f.Degraded = len(f.Degraded), append(f.Degraded, feed.Outage{Platform: d.Platform})
		}
		f.Degraded[at].Days = append(f.Degraded[at].Days, d.Bucket.Format(time.DateOnly))
	}
	return f, err
}
