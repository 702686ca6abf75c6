package metrics

import (
	"context"
	"slices"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// previewBody answers GET /api/v1/alert-preview: the messages that the alerts of a brand would have sent.
type previewBody struct {
	Brand    brandName     `json:"brand"`
	Window   windowBody    `json:"window"`
	Messages int           `json:"messages"`
	Drops    int           `json:"drops"` // messages of more than moves up
	Moves    []previewMove `json:"moves"`
}

type previewMove struct {
	Day        string   `json:"day"` // one message has all moves of a day
	Platform   *string  `json:"platform"`
	Verdict    string   `json:"verdict"`
	Reach      *string  `json:"reach"`
	Since      *string  `json:"since"`
	Difference *float64 `json:"difference"`
}

const previewDays = 90

func (a *API) alertPreview(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := commonParams{brandID: q.requiredID("brand_id", "the id of a brand that GET /api/v1/brands lists, a UUID")}
	q.words("table", "moves") // of CSV, which has no other
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	last := verdict.DayOf(a.now()) - 1
	p.window = window{(last - previewDays + 1).Time(), last.Time()}
	basket, err := a.basket(ctx,
		clickhouse.CellFilter{Filter: p.filter(caller.OrganizationID), Metric: clickhouse.Watched},
		p.window.comparedWith(p.window.usualCompareDays()))
	if err != nil {
		return nil, err
	}
	body := previewBody{
		Brand: brandName{brand.ID.String(), brand.Name}, Window: p.window.body(), Moves: []previewMove{},
	}
	alarms, err := basket.Alarms(ctx, brand.ID.String(), last-previewDays+1, last)
	for _, alarm := range alarms {
		body.Messages++
		if slices.ContainsFunc(alarm.News, func(n verdict.News) bool { return n.Verdict != verdict.MovedUp }) {
			body.Drops++
		}
		for _, n := range alarm.News {
			body.Moves = append(body.Moves, newPreviewMove(alarm.Day, n))
		}
	}
	return body, err
}

func newPreviewMove(day verdict.Day, n verdict.News) previewMove {
	move := previewMove{
		Day: dayText(day.Time()), Platform: nullIfEmpty(n.Platform), Verdict: n.Verdict,
		Reach: nullIfEmpty(n.Judged.Reach),
	}
	if s := n.Judged.Since; s != nil {
		move.Since, move.Difference = new(dayText(s.Day.Time())), points(&s.Difference)
	}
	return move
}
