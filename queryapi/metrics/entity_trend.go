package metrics

import (
	"context"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// entityTrendBody answers GET /api/v1/entity-trend.
type entityTrendBody struct {
	Granularity clickhouse.Granularity `json:"granularity"`
	Entities    []entityTrend          `json:"entities"` // the brand, then competitors by name; [] without answers
}

type entityTrend struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	IsBrand bool           `json:"is_brand"`
	Slot    *int16         `json:"slot"` // null for the brand
	Buckets []entityBucket `json:"buckets"`
}

type entityBucket struct {
	Date              string    `json:"date"`
	Answers           int64     `json:"answers"`
	MentionAnswers    int64     `json:"mention_answers"`
	MentionRatePct    *float64  `json:"mention_rate_pct"`
	MentionRate       *interval `json:"mention_rate_interval"`
	AIVisibilityScore *float64  `json:"ai_visibility_score"` // for weeks and months, too
	Interval          *interval `json:"interval"`            // of the score
	Mentions          int64     `json:"mentions"`
	VoicePct          *float64  `json:"sov_pct"` // of the bucket's mentions
	Citations         int64     `json:"citations"`
}

func (a *API) entityTrend(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.common(a.now())
	filter := clickhouse.TrendFilter{Prompts: q.prompts(), Granularity: q.granularity()}
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	filter.Filter = p.filter(caller.OrganizationID)
	rows, err := clickhouse.EntityTrend.All(ctx, a.warehouse, filter)
	if err != nil {
		return nil, err
	}
	slots, err := a.db.CompetitorSlots(ctx, caller.OrganizationID, p.brandID)
	if err != nil {
		return nil, err
	}
	body := entityTrendBody{filter.Granularity, []entityTrend{}}
	for i, r := range rows {
		if i == 0 || r.ID != rows[i-1].ID {
			body.Entities = append(body.Entities, entityTrend{
				ID: r.ID.String(), Name: r.Name, IsBrand: r.IsBrand, Slot: slots[uuid.UUID(r.ID)],
			})
		}
		last := &body.Entities[len(body.Entities)-1]
		last.Buckets = append(last.Buckets, newEntityBucket(r, filter.Prompts))
	}
	if len(rows) > 0 {
		body.Entities[0].Name = brand.Name
	}
	return body, nil
}

func newEntityBucket(r clickhouse.EntityBucket, prompts []clickhouse.UUID) entityBucket {
	return entityBucket{
		Date: dayText(r.Bucket), Answers: r.Answers, MentionAnswers: r.MentionAnswers,
		MentionRatePct:    r.MentionRatePct,
		MentionRate:       intervalOf(prompts, r.Answers, r.MentionRateLow, r.MentionRateHigh),
		AIVisibilityScore: r.Score, Interval: intervalOf(prompts, r.Answers, r.IntervalLow, r.IntervalHigh),
		Mentions: r.Mentions, VoicePct: r.VoicePct, Citations: r.Citations,
	}
}
