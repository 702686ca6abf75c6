package metrics

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// maxGroups bounds the groups in a body: those with the most answers.
const maxGroups = 50

// groupName names the common platform, model, region or topic of a group's answers.
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

// groupBy reads the kind of groups in a body.
func (q *query) groupBy() clickhouse.GroupBy {
	by, _ := q.word("group_by", string(clickhouse.ByPlatform), string(clickhouse.ByModel), string(clickhouse.ByRegion),
		string(clickhouse.ByTopic))
	return clickhouse.GroupBy(by)
}

// totalAndGroups runs query for all answers and, unless the filter has NoGroups, for each group. toBody makes the group
// of a body. Groups are sorted by answers descending, then by key; they are nil for NoGroups.
func totalAndGroups[F, G any](
	ctx context.Context, a *API, filter clickhouse.GroupFilter,
	query func(context.Context, clickhouse.GroupFilter) ([]group[F], error), toBody func(groupName, F) G,
) (total F, bodies []G, err error) {
	var all, groups []group[F]
	var values []clickhouse.FilterValue
	ungrouped, by := filter, filter.GroupBy
	ungrouped.GroupBy = clickhouse.NoGroups
	queries, ctx := errgroup.WithContext(ctx)
	queries.Go(func() (err error) {
		all, err = query(ctx, ungrouped)
		return err
	})
	if by != clickhouse.NoGroups {
		queries.Go(func() (err error) {
			groups, err = query(ctx, filter)
			return err
		})
	}
	if by == clickhouse.ByTopic { // other groups are named by their key
		queries.Go(func() error { return fetch(&values, clickhouse.FilterValues, filter.Filter)(ctx, a.warehouse) })
	}
	if err := queries.Wait(); err != nil {
		return total, nil, err
	}
	if by == clickhouse.NoGroups {
		return all[0].figures, nil, nil
	}
	slices.SortFunc(groups, func(a, b group[F]) int {
		return cmp.Or(cmp.Compare(b.answers, a.answers), cmp.Compare(a.key, b.key))
	})
	bodies = []G{}
	for _, g := range groups[:min(len(groups), maxGroups)] {
		bodies = append(bodies, toBody(groupName{g.key, displayName(g.key, by, values)}, g.figures))
	}
	return all[0].figures, bodies, nil
}

func displayName(key string, by clickhouse.GroupBy, values []clickhouse.FilterValue) *string {
	for _, v := range values {
		if v.Kind == string(by) && v.Value == key {
			return v.Name
		}
	}
	if by == clickhouse.ByTopic {
		return nil
	}
	return nullIfEmpty(key)
}

// byGroup returns the rows of each group in their order. With NoGroups there is one group, which may have no rows.
func byGroup[R any](rows []R, by clickhouse.GroupBy, key func(R) string) map[string][]R {
	groups := rowsBy(rows, key)
	if _, hasRows := groups[""]; by == clickhouse.NoGroups && !hasRows {
		groups[""] = nil
	}
	return groups
}

// rowsBy returns the rows of each key in their order.
func rowsBy[K comparable, R any](rows []R, key func(R) K) map[K][]R {
	byKey := map[K][]R{}
	for _, r := range rows {
		byKey[key(r)] = append(byKey[key(r)], r)
	}
	return byKey
}
