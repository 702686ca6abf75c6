package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/queryapi/metrics"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// flowing is how many visits a second flow while the bench measures, for how long, and how often it asks the API for a
// record.
var flowing = struct {
	rate  int
	time  time.Duration
	every time.Duration
}{5000, time.Minute, 25 * time.Millisecond}

// freshness measures how long a record takes from the call that appends it until the API counts it, while 5,000 visits
// a second flow: one visit after the other in /api/v1/ai-traffic, and beside them one answer after the other in
// /api/v1/visibility-summary.
func freshness(ctx context.Context, o Options, s *stack, r *Result) error {
	w, err := s.watch(ctx)
	if err != nil {
		return err
	}
	o.Progress("  %d visits a second for %s", flowing.rate, flowing.time)
	var visits, answers []time.Duration
	var flowed atomic.Int64
	err = s.appending(ctx, "", func(log *producer.Producer) error {
		until, end := context.WithTimeout(ctx, flowing.time)
		defer end()
		all, ctx := errgroup.WithContext(ctx)
		all.Go(func() error { return flow(ctx, until, log, &flowed) })
		all.Go(func() (err error) {
			visits, err = w.measure(ctx, until, "ai-traffic", "total_visits", func(i int) error { return w.appendVisit(ctx, log, i) })
			return err
		})
		all.Go(func() (err error) {
			answers, err = w.measure(ctx, until, "visibility-summary", "resultCount", func(i int) error { return w.appendAnswer(ctx, log, i) })
			return err
		})
		return all.Wait()
	})
	if err != nil {
		return err
	}
	var deadLetters uint64
	err = w.warehouse.QueryRow(ctx, "SELECT count() FROM deadletters").Scan(&deadLetters)
	if err == nil && deadLetters > 0 {
		err = fmt.Errorf("%d of the appended records became dead letters, want none", deadLetters)
	}
	if err != nil {
		return err
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
	return nil
}

// flow appends visits at the rate, until until ends; those that a slow moment has delayed are made up for.
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

// A watch measures when records are counted: by a pipeline, and a service beside it.
type watch struct {
	warehouse *clickhouse.Conn
	at        *service
	client    *http.Client
	brand     brand
}

// watch starts a pipeline from the topics to a warehouse, and a service over it.
func (s *stack) watch(ctx context.Context) (*watch, error) {
	db, err := s.openPostgres(ctx)
	if err != nil {
		return nil, err
	}
	brands, err := addBrands(ctx, db, 1)
	if err != nil {
		return nil, err
	}
	warehouse, err := s.warehouse(ctx, "watched")
	if err != nil {
		return nil, err
	}
	if err := mirrorBrands(ctx, s.log, db, warehouse, brands); err != nil {
		return nil, err
	}
	if err := startSink(ctx, s, db, event.TopicAnswers, sink.NewAnswers(warehouse, prometheus.NewRegistry(), s.log)); err != nil {
		return nil, err
	}
	if err := startSink(ctx, s, db, event.TopicVisits, sink.NewVisits(warehouse, sink.CachedVisitIDs, prometheus.NewRegistry(), s.log)); err != nil {
		return nil, err
	}
	at, err := s.serve(ctx, db, warehouse, metrics.Config{})
	return &watch{warehouse, at, newClient(2), brands[0]}, err
}

// startSink starts the sink of a topic, which runs until the bench is over.
func startSink[T any](ctx context.Context, s *stack, db *postgres.DB, topic string, target consume.Target[T]) error {
	cfg := s.consumer(topic, "", topic)
	cfg.Lock = consume.LockWith(db.LockSinksShared)
	consumer, err := consume.New(cfg, target, prometheus.NewRegistry(), s.log)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx) }()
	s.onClose(func(context.Context) error { stop(); return <-ended })
	return nil
}

// measure appends records until until ends, one when the last one is counted by a field of an endpoint, and returns how
// long each took to be.
func (w *watch) measure(ctx, until context.Context, endpoint, field string, appendOne func(i int) error) ([]time.Duration, error) {
	window := question{brand: w.brand, from: start.Truncate(24 * time.Hour), days: 30}
	figure := regexp.MustCompile(`"` + field + `":(\d+)`)
	var took []time.Duration
	for until.Err() == nil {
		begin := time.Now()
		if err := appendOne(len(took)); err != nil {
			return nil, err
		}
		err := poll(ctx, flowing.every, func() (bool, error) {
			var body bytes.Buffer
			if err := w.at.ask(ctx, w.client, api+endpoint, window, &body); err != nil {
				return false, err
			}
			m := figure.FindSubmatch(body.Bytes())
			if m == nil {
				return false, fmt.Errorf("no %s in %.300s", field, body.Bytes())
			}
			n, err := strconv.Atoi(string(m[1]))
			return n > len(took), err
		})
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", endpoint, err)
		}
		took = append(took, time.Since(begin))
	}
	return took, nil
}

func (w *watch) appendVisit(ctx context.Context, log *producer.Producer, i int) error {
	v := someVisit(i)
	v.OrganizationID, v.BrandID = w.brand.organization, w.brand.id
	value, err := event.EncodeVisit(nil, &v)
	if err != nil {
		return err
	}
	return log.Append(ctx, event.TopicVisits, value)
}

func (w *watch) appendAnswer(ctx context.Context, log *producer.Producer, i int) error {
	a := someAnswer(i)
	a.OrganizationID, a.Brand.ID = w.brand.organization, w.brand.id
	value, err := event.EncodeAnswer(nil, &a)
	if err != nil {
		return err
	}
	_, err = log.AppendAll(ctx, event.TopicAnswers, []producer.Record{{Key: event.BrandKey(a.Brand.ID), Value: value}})
	return err
}
