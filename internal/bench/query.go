package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// asking is how much the query bench loads and how long it asks.
var asking = struct {
	load
	window    int           // days of a question
	questions int           // different ones
	rounds    int           // of each way of asking
	turn      time.Duration // of one way in a round
}{
	load:   load{brands: 200, days: 365, visits: 27, samples: 10},
	window: 90, questions: 100, rounds: 15, turn: 500 * time.Millisecond,
}

// query measures every endpoint of /api/v1 that asks the warehouse, over HTTP
// with a key, each with its default parameters, a random brand and a random
// window of 90 days:
//
//   - at two clients p50, p95 and p99 over 10 M answers, and the growth of p50
//     beside 1 M answers: of the same prompts, URLs and brands, a tenth of the
//     samples;
//   - at eight clients p50, and its ratio to the driver's, which asks the
//     same views with the same parameters without the service.
//
// Of a pair both are measured in the same minutes, in turn, after every question was
// asked once.
func query(ctx context.Context, o Options) (r Result, err error) {
	r = Result{Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	l, err := newLaboratory(ctx)
	if err != nil {
		return r, err
	}
	defer l.close()
	s, err := l.stage(ctx, o.tell)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	var answers uint64
	if err := s.driver.QueryRow(ctx, "SELECT count() FROM answers").Scan(&answers); err != nil {
		return r, fmt.Errorf("count answers: %w", err)
	}
	r.Figures["answers"] = float64(answers)
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %8s %8s %8s %8s %8s   %8s %8s %8s", "ms of "+fmt.Sprint(asking.window)+" days",
		"p50", "p95", "p99", "p50@1/10", "growth", "8: p50", "driver", "ratio"))
	for _, e := range s.endpoints {
		o.tell("  %s", e.path)
		if err := s.measure(ctx, &r, e); err != nil {
			return r, err
		}
	}
	return r, nil
}

// A stage is what is asked: a service over the warehouse that has a tenth of the
// samples and one over the grown one, and the driver beside the latter.
type stage struct {
	first, grown *service
	driver       *clickhouse.Conn
	questions    []question
	endpoints    []endpoint
	closes       []func() error
}

func (s *stage) close() error {
	var errs []error
	for _, end := range slices.Backward(s.closes) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// stage starts, fills and connects everything.
func (l *laboratory) stage(ctx context.Context, tell func(string, ...any)) (_ *stage, err error) {
	s := &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	db, err := l.startPostgres(ctx)
	if err != nil {
		return nil, err
	}
	s.closes = append(s.closes, func() error { db.Close(); return nil })
	brands, err := track(ctx, db, asking.brands)
	if err != nil {
		return nil, err
	}
	grown, err := l.warehouse(ctx, "grown")
	if err != nil {
		return nil, err
	}
	s.closes = append(s.closes, grown.Close)
	first, err := l.warehouse(ctx, "first")
	if err != nil {
		return nil, err
	}
	s.closes = append(s.closes, first.Close)
	if err := mirrored(ctx, l, db, grown, asking.brands); err != nil {
		return nil, err
	}
	if err := copyDimensions(ctx, grown, "first"); err != nil {
		return nil, err
	}
	tenth := asking.load
	tenth.samples /= 10
	if err := fill(ctx, first, tenth, tell); err != nil {
		return nil, err
	}
	if err := fill(ctx, grown, asking.load, tell); err != nil {
		return nil, err
	}

	s.questions = questions(asking.questions, brands, asking.days, asking.window)
	if s.endpoints, err = l.learn(ctx, db, grown, s.questions); err != nil {
		return nil, err
	}
	if s.first, err = l.serve(ctx, db, first); err != nil {
		return nil, err
	}
	s.closes = append(s.closes, s.first.stop)
	if s.grown, err = l.serve(ctx, db, grown); err != nil {
		return nil, err
	}
	s.closes = append(s.closes, s.grown.stop)
	cfg := clickhouse.DefaultConfig()
	if cfg.DSN, err = l.database("grown"); err != nil {
		return nil, err
	}
	if s.driver, err = clickhouse.Open(ctx, cfg); err != nil {
		return nil, err
	}
	s.closes = append(s.closes, s.driver.Close)
	return s, nil
}

const (
	few  = 2 // clients, whose percentiles are told
	many = 8 // clients, which keep every core busy
)

// measure adds one endpoint's figures to r.
func (s *stage) measure(ctx context.Context, r *Result, e endpoint) error {
	client := newClient(many)
	defer client.CloseIdleConnections()
	overHTTP := func(at *service) way {
		return func(ctx context.Context, i int) error {
			return at.ask(ctx, client, e.path, s.questions[i%len(s.questions)], "")
		}
	}
	byDriver := func(_ context.Context, i int) error { return replay(s.driver, e.asked[i%len(e.asked)]) }

	grown, err := inTurn(ctx, few, asking.questions, asking.rounds, asking.turn, overHTTP(s.grown), overHTTP(s.first))
	if err != nil {
		return err
	}
	busy, err := inTurn(ctx, many, asking.questions, asking.rounds, asking.turn, overHTTP(s.grown), byDriver)
	if err != nil {
		return err
	}
	name := e.name()
	for _, p := range []int{50, 95, 99} {
		r.Figures[fmt.Sprintf("%s_p%d_ms", name, p)] = percentile(grown[0], float64(p))
	}
	r.Figures[name+"_eight_p50_ms"] = percentile(busy[0], 50)
	r.Ceilings[name+"_tenth_p50_ms"] = percentile(grown[1], 50)
	r.Ceilings[name+"_driver_p50_ms"] = percentile(busy[1], 50)
	r.Ratios[name+"_growth"] = r.Figures[name+"_p50_ms"] / r.Ceilings[name+"_tenth_p50_ms"]
	r.Ratios[name+"_driver_p50"] = r.Figures[name+"_eight_p50_ms"] / r.Ceilings[name+"_driver_p50_ms"]

	r.Figures["p95_ms"] = max(r.Figures["p95_ms"], r.Figures[name+"_p95_ms"])
	r.Ratios["driver_p50"] = max(r.Ratios["driver_p50"], r.Ratios[name+"_driver_p50"])
	if name != "citations" { // its rows are what grows
		r.Ratios["growth"] = max(r.Ratios["growth"], r.Ratios[name+"_growth"])
	}
	r.Lines = append(r.Lines, fmt.Sprintf("%-24s %8.1f %8.1f %8.1f %8.1f %8.2f   %8.1f %8.1f %8.2f", name,
		r.Figures[name+"_p50_ms"], r.Figures[name+"_p95_ms"], r.Figures[name+"_p99_ms"], r.Ceilings[name+"_tenth_p50_ms"], r.Ratios[name+"_growth"],
		r.Figures[name+"_eight_p50_ms"], r.Ceilings[name+"_driver_p50_ms"], r.Ratios[name+"_driver_p50"]))
	return nil
}
