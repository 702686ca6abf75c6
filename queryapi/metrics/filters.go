package metrics

import (
	"context"
	"slices"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// filtersBody answers GET /api/v1/filters: the values of the filters in a window.
type filtersBody struct {
	Platforms []string      `json:"platforms"`
	Models    []string      `json:"models"`
	Regions   []string      `json:"regions"`
	Topics    []filterTopic `json:"topics"`    // by name
	Simulated bool          `json:"simulated"` // the simulator made one of the runs
}

type filterTopic struct {
	ID   string  `json:"id"`
	Name *string `json:"name"` // null: it was deleted
}

func (a *API) filters(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.common(a.now())
	if err := q.check(); err != nil {
		return nil, err
	}
	if _, err := a.findBrand(ctx, caller, p.brandID); err != nil {
		return nil, err
	}
	var rows []clickhouse.FilterValue
	var simulated []clickhouse.Simulated
	filter := p.filter(caller.OrganizationID)
	err := a.runAll(ctx,
		fetch(&rows, clickhouse.FilterValues, filter), fetch(&simulated, clickhouse.SimulatedAnswers, filter))
	if err != nil {
		return nil, err
	}
	body := filtersBody{Platforms: []string{}, Models: []string{}, Regions: []string{}, Topics: []filterTopic{}}
	body.Simulated = slices.Contains(simulated, clickhouse.Simulated{Simulated: true})
	for _, r := range rows {
		switch clickhouse.GroupBy(r.Kind) {
		case clickhouse.ByPlatform:
			body.Platforms = append(body.Platforms, r.Value)
		case clickhouse.ByModel:
			body.Models = append(body.Models, r.Value)
		case clickhouse.ByRegion:
			body.Regions = append(body.Regions, r.Value)
		case clickhouse.ByTopic:
			body.Topics = append(body.Topics, filterTopic{r.Value, r.Name})
		}
	}
	return body, nil
}
