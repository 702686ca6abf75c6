package metrics

import (
	"context"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// sourceMatrixBody answers GET /api/v1/source-matrix: whom the answers name that cite a domain.
type sourceMatrixBody struct {
	Domains []matrixDomain `json:"domains"` // by answers descending, then by name
}

type matrixDomain struct {
	Domain      string         `json:"domain"`
	Category    string         `json:"category"`
	Answers     int64          `json:"answers"`   // that cite it
	UsagePct    *float64       `json:"usage_pct"` // over all answers of the window
	PromptCount uint64         `json:"prompt_count"`
	Entities    []matrixEntity `json:"entities"` // the brand, then its live competitors by the answers that name them
}

type matrixEntity struct {
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Role           string    `json:"role"`
	Named          int64     `json:"named"` // answers that name it
	MentionRatePct *float64  `json:"mention_rate_pct"`
	MentionRate    *interval `json:"mention_rate_interval"`
	Gap            *rateGap  `json:"gap"` // null: the brand itself
}

func (a *API) sourceMatrix(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p, limit := q.common(a.now()), q.number("limit", 20, 1, 100)
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	rows, err := clickhouse.SourceMatrix.All(ctx, a.warehouse, clickhouse.ListFilter{
		Filter: p.filter(caller.OrganizationID), Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	body := sourceMatrixBody{Domains: []matrixDomain{}}
	for _, r := range rows {
		if r.IsBrand { // which comes first
			body.Domains = append(body.Domains, matrixDomain{
				Domain: r.Domain, Category: r.SourceType, Answers: r.CitingAnswers, UsagePct: r.UsagePct,
				PromptCount: r.PromptCount,
			})
		}
		domain := &body.Domains[len(body.Domains)-1]
		domain.Entities = append(domain.Entities, newMatrixEntity(brand.Name, r))
	}
	return body, nil
}

func newMatrixEntity(brand string, r clickhouse.CitedEntity) matrixEntity {
	e := matrixEntity{
		ID: r.ID.String(), Name: brand, Role: "brand", Named: r.MentionAnswers, MentionRatePct: r.MentionRatePct,
		MentionRate: intervalOver(r.CitingAnswers, r.MentionRateLow, r.MentionRateHigh),
	}
	if !r.IsBrand {
		e.Name, e.Role = r.Name, "competitor"
		e.Gap = newRateGap(r.CitingAnswers, r.RateGap)
	}
	return e
}
