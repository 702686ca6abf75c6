package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// asking is how much data the query bench inserts and how long it asks.
var asking = struct {
	data
	window    int           // days of a question
	questions int           // different ones
	rounds    int           // of each way of asking
	time      time.Duration // of one way in a round
}{
	data:   data{brands: 200, days: 365, visits: 27, samples: 10},
	window: 90, questions: 20, rounds: 4, time: 400 * time.Millisecond,
}

// query measures every endpoint of /api/v1 that asks the warehouse, over HTTP with a key, each with its default
// parameters, a random brand and a random window of 90 days:
//
//   - at two clients p50, p95 and p99 over 10 M answers, the ratio of p50 to that of bare sums of the same rows (over),
//     and its growth beside 1 M answers: of the same prompts, URLs and brands, a tenth of the samples;
//   - at eight clients p50, and its ratio to the driver's, which asks the same views with the same parameters without the
//     service.
//
// Verdicts on changes are measured on a brand that is asked daily, with all rows, and repeated from the cache. So is the
// summary of other brands while visits and answers land five times a second.
//
// Of a pair both are measured in the same minutes, in alternation, after every question was asked once.
func query(ctx context.Context, o Options, s *stack, r *Result) error {
	st, err := s.stage(ctx, o.Progress)
	if err != nil {
		return err
	}
	var answers uint64
	if err := st.driver.QueryRow(ctx, "SELECT count() FROM answers").Scan(&answers); err != nil {
		return fmt.Errorf("count answers: %w", err)
	}
	r.Figures["answers"] = float64(answers)
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %8s %8s %8s %8s %8s %8s %8s   %8s %8s %8s",
		fmt.Sprintf("ms of %d days", asking.window),
		"p50", "p95", "p99", "bare", "over", "p50@1/10", "growth", "8: p50", "driver", "ratio"))
	for _, e := range st.endpoints {
		o.Progress("  %s", e.path)
		if err := st.measure(ctx, r, e); err != nil {
			return err
		}
	}
	for _, days := range []int{asking.window / 3, asking.window} {
		o.Progress("  verdicts of %d days", days)
		if err := st.measureVerdicts(ctx, r, days); err != nil {
			return err
		}
	}
	o.Progress("  suggestions")
	if err := st.measureSuggestions(ctx, r); err != nil {
		return err
	}
	o.Progress("  repeated while batches land")
	return st.measureRepeated(ctx, r)
}

// A stage is what is asked: a service over the warehouse that has a tenth of the samples, one over the whole one, and
// the driver beside the latter.
type stage struct {
	tenth, whole *service
	caching      *service // over the whole one; it keeps bodies
	daily        brand    // is asked daily
	db           *postgres.DB
	driver       *clickhouse.Conn
	brands       []brand
	questions    []question
	endpoints    []endpoint
}

// stage fills both warehouses, and starts the services over them.
func (s *stack) stage(ctx context.Context, progress func(string, ...any)) (*stage, error) {
	db, err := s.openPostgres(ctx)
	if err != nil {
		return nil, err
	}
	brands, daily, err := s.fillWhole(ctx, db, progress)
	if err != nil {
		return nil, err
	}
	whole, err := s.openWarehouse(ctx, "whole")
	if err != nil {
		return nil, err
	}
	tenth, err := s.warehouse(ctx, "tenth")
	if err != nil {
		return nil, err
	}
	if err := copyDimensions(ctx, whole, "tenth"); err != nil {
		return nil, err
	}
	less := asking.data
	less.samples /= 10
	if err := fill(ctx, tenth, less, progress); err != nil {
		return nil, err
	}
	st := &stage{daily: daily, db: db, brands: brands, questions: questions(asking.questions, brands, asking.days, asking.window)}
	if st.endpoints, err = s.learn(ctx, db, whole, st); err != nil {
		return nil, err
	}
	if st.tenth, err = s.serve(ctx, db, tenth, metrics.Config{}); err != nil {
		return nil, err
	}
	if st.whole, err = s.serve(ctx, db, whole, metrics.Config{}); err != nil {
		return nil, err
	}
	if st.caching, err = s.serve(ctx, db, whole, metrics.Config{CacheBytes: metrics.DefaultConfig().CacheBytes}); err != nil {
		return nil, err
	}
	st.driver, err = s.openWarehouse(ctx, "whole")
	return st, err
}

// fillWhole creates the brands and the one that is asked daily, and the warehouse called whole with all their answers.
func (s *stack) fillWhole(ctx context.Context, db *postgres.DB, progress func(string, ...any)) (brands []brand, daily brand, err error) {
	if brands, err = addBrands(ctx, db, asking.brands); err != nil {
		return nil, daily, err
	}
	if daily, err = addDaily(ctx, db, asking.brands); err != nil {
		return nil, daily, err
	}
	for _, b := range brands {
		if err := addSuggestions(ctx, db, b); err != nil {
			return nil, daily, err
		}
	}
	whole, err := s.warehouse(ctx, "whole")
	if err != nil {
		return nil, daily, err
	}
	if err := mirrorBrands(ctx, s.log, db, whole, append(slices.Clip(brands), daily)); err != nil {
		return nil, daily, err
	}
	return brands, daily, fill(ctx, whole, asking.data, progress)
}

const (
	few  = 2 // clients, whose percentiles are figures
	many = 8 // clients, which keep every core busy
)

// measure adds one endpoint's figures to r.
func (st *stage) measure(ctx context.Context, r *Result, e endpoint) error {
	client := newClient(many)
	defer client.CloseIdleConnections()
	overHTTP := func(at *service) way {
		return func(ctx context.Context, i int) error {
			return at.ask(ctx, client, e.path, st.questions[i%len(st.questions)], io.Discard)
		}
	}
	byDriver := func(calls [][]call) way {
		return func(_ context.Context, i int) error { return replay(st.driver, calls[i%len(calls)]) }
	}
	alone, err := alternate(ctx, few, asking.questions, asking.rounds, asking.time,
		overHTTP(st.whole), byDriver(e.bare), overHTTP(st.tenth))
	if err != nil {
		return err
	}
	busy, err := alternate(ctx, many, asking.questions, asking.rounds, asking.time, overHTTP(st.whole), byDriver(e.asked))
	if err != nil {
		return err
	}
	name := e.name()
	for _, p := range []int{50, 95, 99} {
		r.Figures[fmt.Sprintf("%s_p%d_ms", name, p)] = percentile(alone[0], float64(p))
	}
	r.Figures[name+"_eight_p50_ms"] = percentile(busy[0], 50)
	r.Ceilings[name+"_bare_p50_ms"] = percentile(alone[1], 50)
	r.Ceilings[name+"_tenth_p50_ms"] = percentile(alone[2], 50)
	r.Ceilings[name+"_driver_p50_ms"] = percentile(busy[1], 50)
	r.Ratios[name+"_over_bare"] = r.Figures[name+"_p50_ms"] / r.Ceilings[name+"_bare_p50_ms"]
	r.Ratios[name+"_growth"] = r.Figures[name+"_p50_ms"] / r.Ceilings[name+"_tenth_p50_ms"]
	r.Ratios[name+"_driver_p50"] = r.Figures[name+"_eight_p50_ms"] / r.Ceilings[name+"_driver_p50_ms"]

	r.Figures["p95_ms"] = max(r.Figures["p95_ms"], r.Figures[name+"_p95_ms"])
	r.Ratios["driver_p50"] = max(r.Ratios["driver_p50"], r.Ratios[name+"_driver_p50"])
	if name != "citations" { // its rows are what grows
		r.Ratios["growth"] = max(r.Ratios["growth"], r.Ratios[name+"_growth"])
	}
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %8.1f %8.1f %8.1f %8.1f %8.2f %8.1f %8.2f   %8.1f %8.1f %8.2f", name,
		r.Figures[name+"_p50_ms"], r.Figures[name+"_p95_ms"], r.Figures[name+"_p99_ms"],
		r.Ceilings[name+"_bare_p50_ms"], r.Ratios[name+"_over_bare"],
		r.Ceilings[name+"_tenth_p50_ms"], r.Ratios[name+"_growth"],
		r.Figures[name+"_eight_p50_ms"], r.Ceilings[name+"_driver_p50_ms"], r.Ratios[name+"_driver_p50"]))
	return nil
}

// measureVerdicts adds the figures of visibility-changes with every row that it can have, over windows of some days
// that end on the last days of the data. With the days before, and the same days earlier, it reads three times as many.
// The repeated questions are ten, which were asked before.
func (st *stage) measureVerdicts(ctx context.Context, r *Result, days int) error {
	client := newClient(few)
	defer client.CloseIdleConnections()
	asks := func(at *service, different int) way {
		return func(ctx context.Context, i int) error {
			from := firstDay.AddDate(0, 0, asking.days-days-i%different)
			q := question{st.daily, from, days, "platform,topic,prompt,competitor"}
			return at.ask(ctx, client, api+"visibility-changes", q, io.Discard)
		}
	}
	took, err := alternate(ctx, few, asking.questions, asking.rounds, asking.time, asks(st.whole, asking.questions), asks(st.caching, 10))
	if err != nil {
		return err
	}
	name, p50, p95, repeated := fmt.Sprintf("verdicts-%d", days), percentile(took[0], 50), percentile(took[0], 95), percentile(took[1], 95)
	r.Figures[name+"_p50_ms"], r.Figures[name+"_p95_ms"], r.Figures[name+"_repeated_p95_ms"] = p50, p95, repeated
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %8.1f %8.1f   repeated p95 %.1f: %d prompts, 3 platforms, %d competitors, every row",
		name, p50, p95, repeated, promptsOfOne, rivalsDaily))
	return nil
}

// measureSuggestions adds the figures of suggestions, which PostgreSQL has.
func (st *stage) measureSuggestions(ctx context.Context, r *Result) error {
	client := newClient(few)
	defer client.CloseIdleConnections()
	took, err := alternate(ctx, few, asking.questions, asking.rounds, asking.time, func(ctx context.Context, i int) error {
		return st.whole.ask(ctx, client, api+"suggestions", st.questions[i%len(st.questions)], io.Discard)
	})
	if err != nil {
		return err
	}
	p50, p95 := percentile(took[0], 50), percentile(took[0], 95)
	r.Figures["suggestions_p50_ms"], r.Figures["suggestions_p95_ms"] = p50, p95
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %8.1f %8.1f   250 of each brand, a page of 50", "suggestions", p50, p95))
	return nil
}

// measureRepeated adds the figures of ten summaries that are repeated while five batches of visits, or of other brands'
// answers, land each second.
func (st *stage) measureRepeated(ctx context.Context, r *Result) error {
	client := newClient(few)
	defer client.CloseIdleConnections()
	others := questions(10, st.brands[2:], asking.days, asking.window) // answers of the first two land
	for topic, statement := range map[string]string{postgres.TopicVisits: insertVisits, postgres.TopicAnswers: insertAnswers} {
		var took [][]time.Duration
		err := beside(ctx, func(ctx context.Context) error { return st.land(ctx, topic, statement) },
			func(ctx context.Context) (err error) {
				took, err = alternate(ctx, few, len(others), 1, 10*time.Second, func(ctx context.Context, i int) error {
					return st.caching.ask(ctx, client, api+"visibility-summary", others[i%len(others)], io.Discard)
				})
				return err
			})
		if err != nil {
			return err
		}
		name, p50, p95 := "repeated-beside-"+topic, percentile(took[0], 50), percentile(took[0], 95)
		r.Figures[name+"_p50_ms"], r.Figures[name+"_p95_ms"] = p50, p95
		r.Lines = append(r.Lines, fmt.Sprintf("%-24s %8.1f %8.1f   the summary, five batches a second", name, p50, p95))
	}
	return nil
}

// land lands a small batch of the first two brands five times a second, as a sink does, until ctx ends.
func (st *stage) land(ctx context.Context, topic, statement string) error {
	brands := []uuid.UUID{st.brands[0].id, st.brands[1].id}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		params := data{brands: 1, visits: 3, samples: 1}.params(firstDay.AddDate(0, 0, i%asking.days), 1)
		if err := st.landBatch(ctx, topic, brands, statement, params); err != nil && ctx.Err() == nil {
			return fmt.Errorf("land %s: %w", topic, err)
		}
	}
}

// landBatch inserts a batch under the lock of the sinks. An insert of a day that has landed before would be dropped.
func (st *stage) landBatch(ctx context.Context, topic string, brands []uuid.UUID, statement string, params []any) error {
	lock, err := st.db.LockSinksShared(ctx, 0)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := lock.Start(ctx, topic, 0, brands); err != nil {
		return err
	}
	if err := st.driver.Exec(ctx, statement, params...); err != nil {
		return err
	}
	lock.Landed()
	return nil
}

// A way of asking the i-th question.
type way func(ctx context.Context, i int) error

// alternate lets clients ask without a pause, one way for a time, then the next, some rounds of all of them, so that
// other load of the machine meets all ways alike. It returns how long each call took, by way, sorted. Before them each
// way asks so many first questions, that are not counted: what they read comes from disk on machines that take idle
// memory back.
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
