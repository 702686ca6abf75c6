package bench

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A recorder is a connection to the warehouse that keeps the queries of a request, so that the driver can be asked the
// same without the service.
type recorder struct {
	clickhouse.Server
	mu    sync.Mutex
	calls []call
}

// A call is one query of a request.
type call struct {
	ctx    context.Context // keeps the settings
	rows   reflect.Type
	text   string
	params []any
}

func (r *recorder) Select(ctx context.Context, rows any, text string, params ...any) error {
	r.mu.Lock()
	r.calls = append(r.calls, call{context.WithoutCancel(ctx), reflect.TypeOf(rows).Elem(), text, params})
	r.mu.Unlock()
	return r.Server.Select(ctx, rows, text, params...)
}

// take returns the calls of the last request.
func (r *recorder) take() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// replay asks conn what a request asked, all at once, as every endpoint does.
func replay(conn clickhouse.Server, calls []call) error {
	var all errgroup.Group
	for _, c := range calls {
		all.Go(func() error {
			if err := conn.Select(c.ctx, reflect.New(c.rows).Interface(), c.text, c.params...); err != nil {
				return fmt.Errorf("ask by the driver: %w", err)
			}
			return nil
		})
	}
	return all.Wait()
}
