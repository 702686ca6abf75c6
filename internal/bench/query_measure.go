package bench

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A way of asking the i-th question.
type way func(ctx context.Context, i int) error

// alternate lets clients ask without a pause, one way for a time, then the next, some rounds of all of them, so that other
// load of the machine meets all ways alike. It returns how long each call took, by way, sorted. Before them each way asks so
// many first questions, that are not counted: what they read comes from disk on machines that take idle memory back.
func alternate(ctx context.Context, clients, first, rounds int, each time.Duration, ways ...way) ([][]time.Duration, error) {
	took := make([][]time.Duration, len(ways))
	asked := make([]atomic.Int64, len(ways))
	for w, ask := range ways {
		if _, err := together(ctx, clients, &asked[w], ask, func() bool { return asked[w].Load() < int64(first) }); err != nil {
			return nil, err
		}
	}
	for range rounds {
		for w, ask := range ways {
			end := time.Now().Add(each)
			times, err := together(ctx, clients, &asked[w], ask, func() bool { return time.Now().Before(end) })
			if err != nil {
				return nil, err
			}
			took[w] = append(took[w], times...)
		}
	}
	for _, times := range took {
		slices.Sort(times)
	}
	return took, nil
}

// together lets clients ask while more is true, each the next question as soon as its last one is answered.
func together(ctx context.Context, clients int, asked *atomic.Int64, ask way, more func() bool) ([]time.Duration, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	took := make([][]time.Duration, clients)
	var under sync.WaitGroup
	for c := range clients {
		under.Go(func() {
			for begin := time.Now(); more() && ctx.Err() == nil; {
				if err := ask(ctx, int(asked.Add(1)-1)); err != nil {
					stop(err)
					return
				}
				now := time.Now()
				took[c] = append(took[c], now.Sub(begin))
				begin = now
			}
		})
	}
	under.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Concat(took...), nil
}

// percentile is the nearest rank of sorted times, in milliseconds.
func percentile(times []time.Duration, p float64) float64 {
	rank := int(math.Ceil(p / 100 * float64(len(times))))
	return times[max(rank-1, 0)].Seconds() * 1000
}
