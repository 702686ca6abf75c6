package metrics

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A part asks the warehouse one of the questions that a body is made of.
type part func(ctx context.Context, conn *clickhouse.Conn) error

// into is the part that keeps the rows of a query.
func into[P, R any](rows *[]R, q clickhouse.Query[P, R], params P) part {
	return func(ctx context.Context, conn *clickhouse.Conn) (err error) {
		*rows, err = q.All(ctx, conn, params)
		return err
	}
}

// gather asks all parts at once, and is done with the slowest or the first that fails.
func (a *API) gather(ctx context.Context, parts ...part) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, ask := range parts {
		group.Go(func() error { return ask(ctx, a.warehouse) })
	}
	return group.Wait()
}
