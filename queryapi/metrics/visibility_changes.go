package metrics

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

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

// A Change is a verdict: points with one decimal, e-values with 4 significant digits. What does not apply is nil.
type Change struct {
	Verdict    string        `json:"verdict"`
	Reach      *string       `json:"reach"`
	Reason     *string       `json:"reason"`
	Before     *float64      `json:"before"`
	After      *float64      `json:"after"`
	Difference *float64      `json:"difference"`
	Interval   *ChangeBounds `json:"interval"`
	Detectable *float64      `json:"detectable"`
	EValue     *float64      `json:"e_value"`
	EDays      *float64      `json:"e_days"`
	Since      *changeSince  `json:"since"`
	Prompts    int           `json:"prompts"`
	DaysBefore int           `json:"days_before"`
	DaysAfter  int           `json:"days_after"`
	LeftOut    leftOut       `json:"left_out"`
	Unadjusted *string       `json:"unadjusted"`
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

// leftOut has shares of runs, 0 to 1, with 4 decimals.
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
}

type changeEntity struct {
	brandName
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
	changes, _ := body.(Changes)
	return changes, err
}

func (a *API) visibilityChanges(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, cells := q.common(a.now()), clickhouse.CellFilter{Metric: q.metric()}
	w := p.window.comparedWith(q.number("compare_days", p.window.usualCompareDays(), 7, maxCompareDays))
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
	cells.Filter, cells.Competitors = p.filter(caller.OrganizationID), slices.Contains(dimensions, byCompetitor)
	body := Changes{
		Brand: brandName{brand.ID.String(), brand.Name}, Metric: cells.Metric,
		Window:      p.window.body(),
		Compare:     p.window.daysBefore(w.CompareDays).body(),
		FalseAlarms: changeAlarms{Guarantee: p.window.guarantee(a.now())},
	}
	names := []clickhouse.FilterValue{}
	basket, err := a.basket(ctx, cells, w,
		func(ctx context.Context, _ *clickhouse.Conn) (err error) {
			body.FalseAlarms.falseAlarms, err = a.falseAlarms(ctx)
			return err
		},
		func(ctx context.Context, conn *clickhouse.Conn) error {
			if len(dimensions) == 0 {
				return nil
			}
			return fetch(&names, clickhouse.RowNames, clickhouse.BrandFilter{
				OrganizationID: cells.OrganizationID, BrandID: cells.BrandID})(ctx, conn)
		})
	if err != nil {
		return nil, err
	}
	body.Change = newChange(basket.Judge(w, verdict.Row{Entity: body.Brand.ID}))
	body.Changes, err = changeRows(ctx, basket, w, body.Brand, dimensions, names)
	return body, err
}

// changeBeside judges the brand's score over a window, of one prompt or all, with the usual days before, while other
// runs.
func (a *API) changeBeside(
	ctx context.Context, filter clickhouse.GroupFilter, window window, other func(context.Context) error,
) (change Change, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return other(ctx) })
	group.Go(func() error {
		w := window.comparedWith(window.usualCompareDays())
		row := verdict.Row{Entity: filter.BrandID.String()}
		if len(filter.Prompts) > 0 {
			row.Dimension, row.Key = verdict.ByPrompt, filter.Prompts[0].String()
		}
		basket, err := a.basket(ctx, clickhouse.CellFilter{Filter: filter.Filter, Metric: clickhouse.Score}, w)
		if err == nil {
			change = newChange(basket.Judge(w, row))
		}
		return err
	})
	err = group.Wait()
	return change, err
}

// metric reads the figure that is judged.
func (q *query) metric() clickhouse.Metric {
	return clickhouse.Metric(q.oneOf("metric",
		string(clickhouse.Score), string(clickhouse.MentionRate), string(clickhouse.CitationRate)))
}

const maxCompareDays = 365

func (w window) usualCompareDays() uint32 { return uint32(min(max(28, w.days()), maxCompareDays)) }

func (w window) comparedWith(days uint32) verdict.Window {
	return verdict.Window{From: verdict.DayOf(w.from), To: verdict.DayOf(w.to), CompareDays: int(days)}
}

// before returns the day some days before the window, as far as years have four digits.
func (w window) before(days int) time.Time {
	return clamp(w.from.AddDate(0, 0, -days), firstYear, lastYear)
}

// daysBefore returns the window of some days that ends before this one.
func (w window) daysBefore(days int) window { return window{w.before(days), w.before(1)} }

// guarantee returns daily_looks for a window that ends today or yesterday, for which the rates of false alarms hold.
// Any other window may have been chosen by its figures.
func (w window) guarantee(now time.Time) string {
	if age := verdict.DayOf(now) - verdict.DayOf(w.to); age == 0 || age == 1 {
		return "daily_looks"
	}
	return "per_look"
}

// basket returns the answers that decide the verdicts on a window; it runs other queries beside its own.
func (a *API) basket(
	ctx context.Context, filter clickhouse.CellFilter, w verdict.Window, others ...queryFunc,
) (*verdict.Basket, error) {
	filter.DateFrom = dateOf(w.Earliest().Time())
	var basket *verdict.Basket
	var changes []postgres.PlatformChange
	err := a.runAll(ctx, append(others,
		func(ctx context.Context, conn *clickhouse.Conn) (err error) {
			basket, err = clickhouse.Basket(ctx, conn, filter, w.Earliest(), w.To)
			return err
		},
		func(ctx context.Context, _ *clickhouse.Conn) (err error) {
			changes, err = a.db.PlatformChanges(ctx, w.Earliest().Time(), w.To.Time())
			return err
		})...)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		basket.AddPlatformChange(c.Platform, verdict.DayOf(c.Day))
	}
	return basket, nil
}

// changeRows returns the rows of the dimensions as one list, in the order of the body.
func changeRows(
	ctx context.Context, basket *verdict.Basket, w verdict.Window, brand brandName, dimensions []string,
	names []clickhouse.FilterValue,
) ([]changeRow, error) {
	type judgedRow struct {
		changeRow
		verdict verdict.Verdict
	}
	var rows []*judgedRow
	var list []*verdict.Verdict
	for _, d := range dimensions {
		keys := basket.Keys(verdict.Dimension(d))
		for _, n := range names {
			if d == byCompetitor && n.Kind == d {
				keys = append(keys, n.Value)
			}
		}
		for _, key := range keys {
			if err := ctx.Err(); err != nil { // years of many prompts take seconds
				return nil, err
			}
			row := changeRow{Dimension: d, Key: key, Name: displayName(key, clickhouse.GroupBy(d), names)}
			row.Entity = changeEntity{brand, "brand"}
			question := verdict.Row{Entity: brand.ID, Dimension: verdict.Dimension(d), Key: key}
			if d == byCompetitor {
				row.Entity, question = changeEntity{brandName{key, *row.Name}, d}, verdict.Row{Entity: key}
			}
			rows = append(rows, &judgedRow{row, basket.Judge(w, question)})
			list = append(list, &rows[len(rows)-1].verdict)
		}
	}
	verdict.Adjust(list)
	size := func(r *judgedRow) float64 { // of a move; less than a billionth is noise of floats
		if !r.verdict.Moved() {
			return -1
		}
		return math.Round(math.Abs(r.verdict.Since.Difference)*1e9) / 1e9
	}
	label := func(r *judgedRow) string {
		if r.Name == nil {
			return r.Key
		}
		return *r.Name
	}
	slices.SortFunc(rows, func(a, b *judgedRow) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(label(a), label(b)), cmp.Compare(a.Key, b.Key))
	})
	changes := make([]changeRow, len(rows))
	for i, r := range rows {
		changes[i] = r.changeRow
		changes[i].Change = newChange(r.verdict)
	}
	return changes, nil
}

func newChange(v verdict.Verdict) Change {
	change := Change{
		v.Verdict, nullIfEmpty(v.Reach), nullIfEmpty(v.Reason), points(v.Before), points(v.After), points(v.Difference),
		newChangeBounds(v.Interval), points(v.Detectable), significant(v.EValue), significant(v.EDays), nil,
		v.Prompts, v.DaysBefore, v.DaysAfter,
		leftOut{share(v.LeftOut.Outage), share(v.LeftOut.ModelChanged), share(v.LeftOut.BasketChanged)},
		nullIfEmpty(v.Unadjusted),
	}
	if s := v.Since; s != nil {
		change.Since = &changeSince{dayText(s.Day.Time()), *points(&s.Difference), newChangeBounds(s.Interval)}
	}
	return change
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
