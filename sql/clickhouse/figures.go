package clickhouse

import (
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// A Source answers a question with rows: a Query, or Figures of one.
type Source[P, R any] interface {
	All(ctx context.Context, conn *Conn, params P) ([]R, error)
}

// Figures are rows that are computed from sums by the formulas of package formula. The file of query/ has a table sums,
// which is sent, and after it the same formulas in SQL, for the view.
type Figures[P, S, R any] struct {
	sums Query[P, S]
	rows func(P, []S) []R
}

// All returns every row. It retries for some seconds while the server is away.
func (f Figures[P, S, R]) All(ctx context.Context, conn *Conn, params P) ([]R, error) {
	sums, err := f.sums.All(ctx, conn, params)
	if err != nil {
		return nil, err
	}
	return f.rows(params, sums), nil
}

// EntityFigures are Figures of the brand and of each live competitor.
type EntityFigures[P interface{ brand() BrandFilter }, S, R any] struct {
	sums Query[P, S]
	rows func(params P, sums []S, entities []entity) []R // the brand, without a name, comes first
}

// All returns every row. It retries for some seconds while the server is away.
func (f EntityFigures[P, S, R]) All(ctx context.Context, conn *Conn, params P) ([]R, error) {
	var sums []S
	var live []entity
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		sums, err = f.sums.All(ctx, conn, params)
		return err
	})
	group.Go(func() (err error) {
		live, err = liveCompetitors.All(ctx, conn, params.brand())
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return f.rows(params, sums, append([]entity{{ID: params.brand().BrandID}}, live...)), nil
}

type entity struct {
	ID   UUID   `ch:"id"`
	Name string `ch:"name"`
}

var liveCompetitors = rollup[BrandFilter, entity]("live_competitors")

func (f Filter) brand() BrandFilter { return BrandFilter{f.OrganizationID, f.BrandID} }

// byEntity returns sums by group and entity.
func byEntity[S any](sums []S, key func(S) (group string, id UUID)) map[string]map[UUID]S {
	groups := map[string]map[UUID]S{}
	for _, s := range sums {
		group, id := key(s)
		if groups[group] == nil {
			groups[group] = map[UUID]S{}
		}
		groups[group][id] = s
	}
	return groups
}

// groupKeys returns the keys of groups, sorted. Without groups the only one exists also without sums.
func groupKeys[S any](by GroupBy, groups map[string]map[UUID]S) []string {
	if by == NoGroups {
		return []string{""}
	}
	return slices.Sorted(maps.Keys(groups))
}

// sumsOf declares the query of a file's sums.
func sumsOf[P, S any](name string) Query[P, S] {
	q := rollup[P, S](name)
	q.Text = sumsText(q.Text)
	return q
}

// sumsText cuts the formulas off.
func sumsText(text string) string {
	sums, rest, ok := strings.Cut(text, "-- formulas")
	if !ok {
		return text
	}
	return strings.TrimRight(sums, ", \n") + "\nSELECT * FROM sums\n" + rest[strings.LastIndex(rest, "SETTINGS"):]
}
