package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// flowing is how many visits a second flow while the bench looks, for how long,
// and how often it asks the API whether a record shows.
var flowing = struct {
	rate  int
	time  time.Duration
	every time.Duration
}{5000, time.Minute, 25 * time.Millisecond}

// freshness measures how long a record takes from the call that appends it until
// the API counts it, while 5,000 visits a second flow: one visit after the other in
// /api/v1/ai-traffic, and beside them one answer after the other in
// /api/v1/visibility-summary.
func freshness(ctx context.Context, o Options) (_ Result, err error) {
	r := Result{Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	l, err := newLaboratory(ctx)
	if err != nil {
		return r, err
	}
	defer l.close()
	if err := l.startBroker(ctx, o.Broker); err != nil {
		return r, err
	}
	s, err := l.watch(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	o.tell("  %d visits a second for %s", flowing.rate, flowing.time)
	var visits, answers []time.Duration
	var flowed atomic.Int64
	err = l.appending(ctx, "", func(log *producer.Producer) error {
		until, end := context.WithTimeout(ctx, flowing.time)
		defer end()
		both, ctx := errgroup.WithContext(ctx)
		both.Go(func() error { return flow(ctx, until, log, &flowed) })
		both.Go(func() (err error) { visits, err = s.visits(ctx, until, log); return err })
		both.Go(func() (err error) { answers, err = s.answers(ctx, until, log); return err })
		return both.Wait()
	})
	if err != nil {
		return r, err
	}
	r.Figures["flow_per_s"] = float64(flowed.Load()) / flowing.time.Seconds()
	r.Ceilings["flow_per_s"] = float64(flowing.rate)
	r.Ratios["flow"] = r.Figures["flow_per_s"] / r.Ceilings["flow_per_s"]
	for name, took := range map[string][]time.Duration{"visits": visits, "answers": answers} {
		slices.Sort(took)
		r.Figures[name+"_seen"] = float64(len(took))
		for _, p := range []int{50, 99} {
			key := fmt.Sprintf("p%d_ms", p)
			r.Figures[name+"_"+key] = percentile(took, float64(p))
			r.Figures[key] = max(r.Figures[key], r.Figures[name+"_"+key])
		}
	}
	return r, nil
}

// flow appends visits at the rate, until told; those that a slow moment left
// behind are made good.
func flow(ctx, until context.Context, log *producer.Producer, flowed *atomic.Int64) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	began, next := time.Now(), 0
	for {
		select {
		case <-until.Done():
			return nil
		case <-tick.C:
		}
		var some []producer.Record
		for due := int(time.Since(began).Seconds() * float64(flowing.rate)); next < due; next++ {
			v := someVisit(next)
			value, err := event.EncodeVisit(nil, &v)
			if err != nil {
				return err
			}
			some = append(some, producer.Record{Value: value})
		}
		n, err := log.AppendAll(ctx, event.TopicVisits, some)
		flowed.Add(int64(n))
		if err != nil {
			return err
		}
	}
}

// A watch looks how long records take: a pipeline and a service beside it.
type watch struct {
	at     *service
	client *http.Client
	brand  tracked
	closes []func() error
}

func (w *watch) close() error {
	var errs []error
	for _, end := range w.closes {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// watch starts a pipeline from the topics to a warehouse, and a service over it.
func (l *laboratory) watch(ctx context.Context) (*watch, error) {
	db, err := l.startPostgres(ctx)
	if err != nil {
		return nil, err
	}
	brands, err := track(ctx, db, 1)
	if err != nil {
		return nil, err
	}
	warehouse, err := l.warehouse(ctx, "watched")
	if err != nil {
		return nil, err
	}
	if err := mirrored(ctx, l, db, warehouse, 1); err != nil {
		return nil, err
	}
	w := &watch{client: newClient(2), brand: brands[0]}
	if w.at, err = l.serve(ctx, db, warehouse); err != nil {
		return nil, err
	}
	sinks, stop := context.WithCancel(ctx)
	ended, err := l.sinks(sinks, db, warehouse)
	w.closes = []func() error{w.at.stop, func() error { stop(); return ended() }, warehouse.Close, func() error { db.Close(); return nil }}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// sinks starts those of both topics, and returns how to wait for their end.
func (l *laboratory) sinks(ctx context.Context, db *postgres.DB, warehouse *clickhouse.Conn) (ended func() error, err error) {
	var both errgroup.Group
	told, seen := l.reading("answers", event.TopicAnswers), l.visits("visits")
	told.Gate, seen.Gate = db.LockSinksShared, db.LockSinksShared
	answers, err := consume.New(told, sink.New(warehouse, prometheus.NewRegistry(), l.log), prometheus.NewRegistry(), l.log)
	if err != nil {
		return both.Wait, err
	}
	visits, err := consume.New(seen, sink.NewVisits(warehouse, sink.NewMemory(sink.Remembered), prometheus.NewRegistry(), l.log), prometheus.NewRegistry(), l.log)
	if err != nil {
		return both.Wait, err
	}
	both.Go(func() error { return answers.Run(ctx) })
	both.Go(func() error { return visits.Run(ctx) })
	return both.Wait, nil
}

// visits appends one visit after the other, and tells how long each took to show.
func (w *watch) visits(ctx, until context.Context, log *producer.Producer) ([]time.Duration, error) {
	return w.each(ctx, until, "ai-traffic", func(i int) error {
		v := someVisit(i)
		v.OrganizationID, v.BrandID = w.brand.organization, w.brand.id
		value, err := event.EncodeVisit(nil, &v)
		if err != nil {
			return err
		}
		return log.Append(ctx, event.TopicVisits, nil, value)
	}, func(body []byte) (n int, err error) {
		var shown struct {
			Visits int `json:"total_visits"`
		}
		err = json.Unmarshal(body, &shown)
		return shown.Visits, err
	})
}

// answers does the same with answers.
func (w *watch) answers(ctx, until context.Context, log *producer.Producer) ([]time.Duration, error) {
	return w.each(ctx, until, "visibility-summary", func(i int) error {
		a := someAnswer(i)
		a.OrganizationID, a.Brand.ID = w.brand.organization, w.brand.id
		value, err := event.EncodeAnswer(nil, &a)
		if err != nil {
			return err
		}
		return log.Append(ctx, event.TopicAnswers, event.AnswerKey(a.Brand.ID), value)
	}, func(body []byte) (n int, err error) {
		var shown struct{ Totals struct{ ResultCount int } }
		err = json.Unmarshal(body, &shown)
		return shown.Totals.ResultCount, err
	})
}

// each appends records until told, one when the last one shows.
func (w *watch) each(ctx, until context.Context, endpoint string, appendOne func(i int) error, count func(body []byte) (int, error)) ([]time.Duration, error) {
	window := question{brand: w.brand, from: start.Truncate(24 * time.Hour), days: 30}
	look := time.NewTicker(flowing.every)
	defer look.Stop()
	var took []time.Duration
	for until.Err() == nil {
		begin := time.Now()
		if err := appendOne(len(took)); err != nil {
			return nil, err
		}
		for shown := 0; shown <= len(took); {
			select {
			case <-look.C:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			var body bytes.Buffer
			err := w.at.read(ctx, w.client, api+endpoint, window, "", &body)
			if err != nil {
				return nil, err
			}
			if shown, err = count(body.Bytes()); err != nil {
				return nil, fmt.Errorf("read %s: %w", endpoint, err)
			}
		}
		took = append(took, time.Since(begin))
	}
	return took, nil
}
