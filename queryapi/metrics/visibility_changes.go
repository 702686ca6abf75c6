package metrics

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Changes answers GET /api/v1/visibility-changes.
type Changes struct {
	Brand       brandName         `json:"brand"`
	Metric      clickhouse.Metric `json:"metric"`
	Window      windowBody        `json:"window"`
	Compare     windowBody        `json:"compare"` // the days before
	Change      Change            `json:"change"`  // of all answers
	Changes     []changeRow       `json:"changes"` // moves by size, then the rest by name
	FalseAlarms changeAlarms      `json:"false_alarms"`
}

// A Change is a verdict: points with one decimal, e-values with 4 significant digits.
type Change struct {
	Verdict    string        `json:"verdict"`
	Reach      *string       `json:"reach"`  // null: no move
	Reason     *string       `json:"reason"` // of too_little_data; the platforms of an outage or another change
	Before     *float64      `json:"before"` // of what was compared, as all figures
	After      *float64      `json:"after"`
	Difference *float64      `json:"difference"`
	Interval   *ChangeBounds `json:"interval"`   // null: of a move, whose since has it
	Detectable *float64      `json:"detectable"` // the least change that is seen with power 80 %
	EValue     *float64      `json:"e_value"`
	EDays      *float64      `json:"e_days"`
	Since      *changeSince  `json:"since"` // null: no move
	Prompts    int           `json:"prompts"`
	DaysBefore int           `json:"days_before"`
	DaysAfter  int           `json:"days_after"`
	LeftOut    leftOut       `json:"left_out"`
	Unadjusted *string       `json:"unadjusted"` // the move that the length of the list took back
}

// ChangeBounds are the ends of an interval in points.
type ChangeBounds struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

type changeSince struct {
	Day        string        `json:"day"`
	Difference float64       `json:"difference"`
	Interval   *ChangeBounds `json:"interval"`
}

// leftOut has shares of runs, 0 to 1.
type leftOut struct {
	Outage        float64 `json:"outage"`
	ModelChanged  float64 `json:"model_changed"`
	BasketChanged float64 `json:"basket_changed"`
}

type changeRow struct {
	Dimension string       `json:"dimension"`
	Key       string       `json:"key"`  // slug of a platform, else an id
	Name      *string      `json:"name"` // a prompt's is its text; null: a topic that was deleted
	Entity    changeEntity `json:"entity"`
	Change
	verdict verdict.Verdict `csv:"-"`
}

type changeEntity struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"` // brand, competitor
}

// changeAlarms has the rates of false moves that the installation publishes.
type changeAlarms struct {
	Guarantee string `json:"guarantee"`
	falseAlarms
}

// byCompetitor makes a row of all answers for each live competitor.
const byCompetitor = "competitor"

// Changes answers the parameters of visibility-changes to a caller in this process.
func (a *API) Changes(ctx context.Context, caller identity.Identity, params url.Values) (Changes, error) {
	body, err := a.visibilityChanges(ctx, caller, parseQuery(params.Encode()))
	if err != nil {
		return Changes{}, err
	}
	return body.(Changes), nil
}

func (a *API) visibilityChanges(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, metric := q.common(a.now()), q.metric()
	compareDays := q.number("compare_days", usualCompareDays(p.window), 7, maxCompareDays)
	dimensions := q.someOf("group_by",
		string(verdict.ByPlatform), string(verdict.ByTopic), string(verdict.ByPrompt), byCompetitor)
	q.words("table", "changes") // of CSV, which has no other
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	filter, w := p.filter(caller.OrganizationID), p.window.comparedWith(compareDays)
	var names []clickhouse.RowName
	alarms := changeAlarms{Guarantee: guarantee(p.window, a.now())}
	queries := []queryFunc{func(ctx context.Context, _ *clickhouse.Conn) (err error) {
		alarms.falseAlarms, err = a.falseAlarms(ctx)
		return err
	}}
	if len(dimensions) > 0 {
		queries = append(queries, fetch(&names, clickhouse.RowNames,
			clickhouse.BrandFilter{OrganizationID: filter.OrganizationID, BrandID: filter.BrandID}))
	}
	withCompetitors := slices.Contains(dimensions, byCompetitor)
	basket, err := a.basket(ctx, clickhouse.CellFilter{Filter: filter, Metric: metric, Competitors: withCompetitors}, w,
		queries...)
	if err != nil {
		return nil, err
	}
	return Changes{
		Brand: brandName{brand.ID.String(), brand.Name}, Metric: metric,
		Window:      windowBody{dayText(p.window.from), dayText(p.window.to)},
		Compare:     windowBody{dayText(p.window.before(compareDays)), dayText(p.window.before(1))},
		Change:      newChange(basket.Judge(w, verdict.Row{Entity: brand.ID.String()})),
		Changes:     changeRows(basket, w, brand, dimensions, names),
		FalseAlarms: alarms,
	}, nil
}

// change judges the brand's score over all answers of a window, with the usual days before.
func (a *API) change(ctx context.Context, filter clickhouse.Filter, window window) (verdict.Verdict, error) {
	w := window.comparedWith(usualCompareDays(window))
	basket, err := a.basket(ctx, clickhouse.CellFilter{Filter: filter, Metric: clickhouse.Score}, w)
	if err != nil {
		return verdict.Verdict{}, err
	}
	return basket.Judge(w, verdict.Row{Entity: filter.BrandID.String()}), nil
}

// metric reads the figure that is judged.
func (q *query) metric() clickhouse.Metric {
	return clickhouse.Metric(q.oneOf("metric",
		string(clickhouse.Score), string(clickhouse.MentionRate), string(clickhouse.CitationRate)))
}

const maxCompareDays = 365

func usualCompareDays(w window) uint32 { return uint32(min(max(28, w.days()), maxCompareDays)) }

func (w window) comparedWith(days uint32) verdict.Window {
	return verdict.Window{From: verdict.DayOf(w.from), To: verdict.DayOf(w.to), CompareDays: int(days)}
}

// before returns the day so many days before the window.
func (w window) before(days uint32) time.Time {
	return clamp(w.from.AddDate(0, 0, -int(days)), firstYear, lastYear)
}

// guarantee returns daily_looks for a window that ends today or yesterday, for which the rates of false alarms hold. Any
// other window may have been chosen by its figures.
func guarantee(w window, now time.Time) string {
	today, yesterday := dayText(now.UTC()), dayText(now.UTC().AddDate(0, 0, -1))
	if end := dayText(w.to); end == today || end == yesterday {
		return "daily_looks"
	}
	return "per_look"
}

// basket returns the answers that decide the verdicts on a window; it runs other queries beside its own.
func (a *API) basket(
	ctx context.Context, filter clickhouse.CellFilter, w verdict.Window, others ...queryFunc,
) (*verdict.Basket, error) {
	filter.DateFrom = dateOf(w.Earliest().Time())
	var rows []clickhouse.CellDay
	var models []clickhouse.ServedModel
	var changes map[string][]time.Time
	err := a.runAll(ctx, append(others, fetch(&rows, clickhouse.CellDays, filter),
		fetch(&models, clickhouse.ServedModels, filter.Filter),
		func(ctx context.Context, _ *clickhouse.Conn) (err error) {
			changes, err = a.db.PlatformChanges(ctx, w.First().Time(), w.To.Time())
			return err
		})...)
	if err != nil {
		return nil, err
	}
	cells := make([]verdict.Cell, len(rows))
	for i, r := range rows {
		cells[i] = verdict.Cell{
			EntityID: r.EntityID, PromptID: r.PromptID, TopicID: r.TopicID, Platform: r.Platform, Model: r.Model,
			Region: r.Region, Days: r.Days, Runs: r.Runs, GivenUp: r.GivenUp, Answers: r.Answers, Points: r.Points,
		}
	}
	served := make([]verdict.Served, len(models))
	for i, m := range models {
		served[i] = verdict.Served(m)
	}
	changed := map[string][]verdict.Day{}
	for platform, days := range changes {
		for _, day := range days {
			changed[platform] = append(changed[platform], verdict.DayOf(day))
		}
	}
	return verdict.NewBasket(w.Earliest(), w.To, cells, served, changed), nil
}

// changeRows returns the rows of the dimensions as one list, in the order of the body.
func changeRows(
	basket *verdict.Basket, w verdict.Window, brand postgres.Brand, dimensions []string, names []clickhouse.RowName,
) []changeRow {
	rows := []changeRow{}
	for _, dimension := range dimensions {
		if dimension == byCompetitor {
			for _, n := range names {
				if n.Kind == byCompetitor {
					row := changeRow{Dimension: dimension, Key: n.ID, Name: &n.Name,
						Entity: changeEntity{n.ID, n.Name, byCompetitor}}
					row.verdict = basket.Judge(w, verdict.Row{Entity: n.ID})
					rows = append(rows, row)
				}
			}
			continue
		}
		for _, key := range basket.Keys(verdict.Dimension(dimension)) {
			row := changeRow{Dimension: dimension, Key: key, Name: rowName(dimension, key, names),
				Entity: changeEntity{brand.ID.String(), brand.Name, "brand"}}
			row.verdict = basket.Judge(w,
				verdict.Row{Entity: brand.ID.String(), Dimension: verdict.Dimension(dimension), Key: key})
			rows = append(rows, row)
		}
	}
	list := make([]*verdict.Verdict, len(rows))
	for i := range rows {
		list[i] = &rows[i].verdict
	}
	verdict.Adjust(list)
	for i := range rows {
		rows[i].Change = newChange(rows[i].verdict)
	}
	slices.SortFunc(rows, func(a, b changeRow) int {
		return cmp.Or(cmp.Compare(b.moved(), a.moved()), cmp.Compare(a.label(), b.label()), cmp.Compare(a.Key, b.Key))
	})
	return rows
}

// rowName returns nil where a topic was deleted.
func rowName(dimension, key string, names []clickhouse.RowName) *string {
	if dimension == string(verdict.ByPlatform) {
		return &key
	}
	for _, n := range names {
		if n.Kind == dimension && n.ID == key {
			return &n.Name
		}
	}
	return nil
}

// moved returns the size of a move in points, -1 for any other verdict. Less than a billionth is noise of floats.
func (r changeRow) moved() float64 {
	if !r.verdict.Moved() {
		return -1
	}
	return math.Round(math.Abs(r.verdict.Since.Difference)*1e9) / 1e9
}

func (r changeRow) label() string {
	if r.Name == nil {
		return r.Key
	}
	return *r.Name
}

func newChange(v verdict.Verdict) Change {
	figures := Change{
		Verdict: v.Verdict, Reach: nullIfEmpty(v.Reach), Reason: nullIfEmpty(v.Reason), Before: points(v.Before),
		After: points(v.After), Difference: points(v.Difference), Interval: newChangeBounds(v.Interval),
		Detectable: points(v.Detectable), EValue: significant(v.EValue), EDays: significant(v.EDays),
		Prompts: v.Prompts, DaysBefore: v.DaysBefore, DaysAfter: v.DaysAfter,
		LeftOut:    leftOut{share(v.LeftOut.Outage), share(v.LeftOut.ModelChanged), share(v.LeftOut.BasketChanged)},
		Unadjusted: nullIfEmpty(v.Unadjusted),
	}
	if s := v.Since; s != nil {
		figures.Since = &changeSince{dayText(s.Day.Time()), *points(&s.Difference), newChangeBounds(s.Interval)}
	}
	return figures
}

func newChangeBounds(i *verdict.Interval) *ChangeBounds {
	if i == nil {
		return nil
	}
	return &ChangeBounds{*points(&i.Low), *points(&i.High)}
}

// points rounds half away from zero to one decimal, as answerscope_round does.
func points(x *float64) *float64 {
	if x == nil {
		return nil
	}
	return new(math.Round((*x+math.Copysign(1e-9, *x))*10)/10 + 0) // + 0: never -0
}

func share(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// significant rounds to 4 digits.
func significant(x *float64) *float64 {
	if x == nil {
		return nil
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(*x, 'g', 4, 64), 64) // ours
	return &rounded
}
