package metrics

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A part is one of the queries that a body needs.
type part func(ctx context.Context, conn *clickhouse.Conn) error

// into is the part that stores the rows of a query.
func into[P, R any](rows *[]R, q clickhouse.Query[P, R], params P) part {
	return func(ctx context.Context, conn *clickhouse.Conn) (err error) {
		*rows, err = q.All(ctx, conn, params)
		return err
	}
}

// gather runs all parts at once, and returns after the slowest or the first error.
func (a *API) gather(ctx context.Context, parts ...part) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, ask := range parts {
		group.Go(func() error { return ask(ctx, a.warehouse) })
	}
	return group.Wait()
}
