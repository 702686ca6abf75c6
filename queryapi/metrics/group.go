package metrics

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// maxGroups is how many groups a body shows: those with the most answers.
const maxGroups = 50

// groupName is what the answers of a group have in common.
type groupName struct {
	Key  string  `json:"key"`  // slug, region or id of a topic, "": the answers without one
	Name *string `json:"name"` // null: without one, or a topic that was deleted
}

// A group is the figures of the answers of one platform, model, region or topic.
type group[F any] struct {
	key     string
	answers int64
	figures F
}

// groupBy reads what a body's groups are by.
func (q *query) groupBy() clickhouse.GroupBy {
	by, _ := q.word("group_by", string(clickhouse.ByPlatform), string(clickhouse.ByModel), string(clickhouse.ByRegion), string(clickhouse.ByTopic))
	return clickhouse.GroupBy(by)
}

// wholeAndGroups asks for the figures of all answers and, if by names anything, for those of each group, by the same
// queries. Groups come by answers descending, then by key, each as show makes it; they are nil where none were asked
// for.
func wholeAndGroups[F, G any](
	ctx context.Context, a *API, filter clickhouse.Filter, by clickhouse.GroupBy,
	ask func(context.Context, clickhouse.GroupFilter) ([]group[F], error), show func(groupName, F) G,
) (whole F, shown []G, err error) {
	var all, groups []group[F]
	var values []clickhouse.FilterValue
	parts, within := errgroup.WithContext(ctx)
	parts.Go(func() (err error) {
		all, err = ask(within, clickhouse.GroupFilter{Filter: filter})
		return err
	})
	if by != clickhouse.NoGroups {
		parts.Go(func() (err error) {
			groups, err = ask(within, clickhouse.GroupFilter{Filter: filter, GroupBy: by})
			return err
		})
	}
	if by == clickhouse.ByTopic { // all else is called by its key
		parts.Go(func() error { return into(&values, clickhouse.FilterValues, filter)(within, a.warehouse) })
	}
	if err := parts.Wait(); err != nil {
		return whole, nil, err
	}
	if by == clickhouse.NoGroups {
		return all[0].figures, nil, nil
	}
	slices.SortFunc(groups, func(a, b group[F]) int {
		return cmp.Or(cmp.Compare(b.answers, a.answers), cmp.Compare(a.key, b.key))
	})
	shown = []G{}
	for _, g := range groups[:min(len(groups), maxGroups)] {
		shown = append(shown, show(groupName{g.key, nameOf(g.key, by, values)}, g.figures))
	}
	return all[0].figures, shown, nil
}

func nameOf(key string, by clickhouse.GroupBy, values []clickhouse.FilterValue) *string {
	if by != clickhouse.ByTopic {
		return unlessEmpty(key)
	}
	for _, v := range values {
		if v.Kind == string(by) && v.Value == key {
			return v.Name
		}
	}
	return nil
}

// byGroup has the rows of each group in their order; all answers are a group also where they have no rows.
func byGroup[R any](rows []R, by clickhouse.GroupBy, key func(R) string) map[string][]R {
	of := map[string][]R{}
	if by == clickhouse.NoGroups {
		of[""] = nil
	}
	for _, r := range rows {
		of[key(r)] = append(of[key(r)], r)
	}
	return of
}
