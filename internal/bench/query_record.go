package bench

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A recorder is a connection to the warehouse that keeps the queries of each request, so that the driver can be asked the
// same without the service.
type recorder struct {
	clickhouse.Server
	mu    sync.Mutex
	calls map[string][]call // by the request's id
}

// A call is one query of a request: its text, parameters and settings, and when.
type call struct {
	ctx        context.Context // keeps the settings
	rows       reflect.Type
	text       string
	params     []any
	begin, end time.Time
}

func (r *recorder) Select(ctx context.Context, rows any, text string, params ...any) error {
	c := call{ctx: context.WithoutCancel(ctx), rows: reflect.TypeOf(rows).Elem(), text: text, params: params, begin: time.Now()}
	err := r.Server.Select(ctx, rows, text, params...)
	c.end = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	id := httpd.RequestID(ctx)
	r.calls[id] = append(r.calls[id], c)
	return err
}

// take returns the calls of a request, in steps: the calls of a step were under way at the same time.
func (r *recorder) take(id string) [][]call {
	r.mu.Lock()
	calls := r.calls[id]
	delete(r.calls, id)
	r.mu.Unlock()
	slices.SortFunc(calls, func(a, b call) int { return a.begin.Compare(b.begin) })
	var steps [][]call
	var end time.Time
	for _, c := range calls {
		if len(steps) == 0 || c.begin.After(end) {
			steps = append(steps, nil)
		}
		steps[len(steps)-1] = append(steps[len(steps)-1], c)
		end = slices.MaxFunc([]time.Time{end, c.end}, time.Time.Compare)
	}
	return steps
}

// replay asks conn what a request asked, step by step.
func replay(conn clickhouse.Server, steps [][]call) error {
	for _, step := range steps {
		if len(step) == 1 {
			if err := step[0].replay(conn); err != nil {
				return err
			}
			continue
		}
		errs := make([]error, len(step))
		var under sync.WaitGroup
		for i, c := range step {
			under.Go(func() { errs[i] = c.replay(conn) })
		}
		under.Wait()
		if err := cmp.Or(errs...); err != nil {
			return err
		}
	}
	return nil
}

func (c call) replay(conn clickhouse.Server) error {
	if err := conn.Select(c.ctx, reflect.New(c.rows).Interface(), c.text, c.params...); err != nil {
		return fmt.Errorf("ask by the driver: %w", err)
	}
	return nil
}
