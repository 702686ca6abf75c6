package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// answersCount is how many answers of 3 to 8 KB the bench takes from the log to the views.
var answersCount = 12_000

// answers measures rows a second from the log through extract into the landing table and the targets of its views. Its
// ceilings, in the same run, are reading the same topic alone, extracting the answers alone (one core), and inserting
// the same answers, extracted beforehand, in batches of the same size.
func answers(ctx context.Context, _ Options, s *stack, r *Result) error {
	records, err := s.appendAnswers(ctx, answersCount)
	if err != nil {
		return err
	}
	n := float64(answersCount)

	read := &counting{}
	took, err := consumeAll(ctx, s, s.consumer("read", "", event.TopicAnswers), read, &read.records, answersCount)
	if err != nil {
		return err
	}
	r.Ceilings["read_per_s"] = n / took.Seconds()

	warehouse, err := s.warehouse(ctx, "inserted")
	if err != nil {
		return err
	}
	if err := extractAndInsert(ctx, r, sink.NewAnswers(warehouse, prometheus.NewRegistry(), s.log), records); err != nil {
		return err
	}

	whole, err := s.warehouse(ctx, "whole")
	if err != nil {
		return err
	}
	target := &countedAnswers{Answers: sink.NewAnswers(whole, prometheus.NewRegistry(), s.log)}
	if took, err = consumeAll(ctx, s, s.consumer("whole", "", event.TopicAnswers), target, &target.records, answersCount); err != nil {
		return err
	}
	r.Figures["answers"] = n
	r.Figures["rows_per_s"] = n / took.Seconds()
	r.Ratios["insert"] = r.Figures["rows_per_s"] / r.Ceilings["insert_per_s"]
	r.Ratios["read"] = r.Figures["rows_per_s"] / r.Ceilings["read_per_s"]
	r.Ratios["ceiling"] = r.Figures["rows_per_s"] * (1/r.Ceilings["insert_per_s"] + 1/r.Ceilings["read_per_s"] + 1/r.Ceilings["extract_per_s"])
	return nil
}

// appendAnswers appends n answers and returns them as records.
func (s *stack) appendAnswers(ctx context.Context, n int) ([]consume.Record, error) {
	records := make([]consume.Record, n)
	appended := make([]producer.Record, n)
	for i := range n {
		a := someAnswer(i)
		value, err := event.EncodeAnswer(nil, &a)
		if err != nil {
			return nil, err
		}
		records[i] = consume.Record{Topic: event.TopicAnswers, Offset: int64(i), Value: value}
		appended[i] = producer.Record{Key: event.BrandKey(a.Brand.ID), Value: value}
	}
	return records, s.appending(ctx, "", func(log *producer.Producer) error {
		_, err := log.AppendAll(ctx, event.TopicAnswers, appended)
		return err
	})
}

// extractAndInsert measures both apart.
func extractAndInsert(ctx context.Context, r *Result, s *sink.Answers, records []consume.Record) error {
	var extracting, inserting time.Duration
	const size = 2000
	for first := 0; first < len(records); first += size {
		last := min(first+size, len(records)) - 1
		b := &consume.Batch[sink.Answer]{Topic: "answers", First: int64(first), Last: int64(last), Plan: consume.Plan{Last: int64(last), ExtractVersion: extract.Version}}
		begin := time.Now()
		for i := first; i <= last; i++ {
			item, _, err := s.Decode(extract.Version, records[i])
			if err != nil {
				return err
			}
			b.Items = append(b.Items, item)
		}
		extracting += time.Since(begin)
		begin = time.Now()
		if err := s.Insert(ctx, b, func() error { return nil }); err != nil {
			return err
		}
		inserting += time.Since(begin)
	}
	r.Ceilings["extract_per_s"] = float64(len(records)) / extracting.Seconds()
	r.Ceilings["insert_per_s"] = float64(len(records)) / inserting.Seconds()
	return nil
}

// counting is a target that counts records and drops them.
type counting struct{ records atomic.Int64 }

func (*counting) Version() int      { return extract.Version }
func (*counting) Supports(int) bool { return true }
func (*counting) Decode(_ int, r consume.Record) (int, int, error) {
	return len(r.Value), 0, nil
}
func (c *counting) Insert(_ context.Context, b *consume.Batch[int], _ func() error) error {
	c.records.Add(int64(len(b.Items)))
	return nil
}
func (*counting) LastOffset(context.Context, string, int32) (int64, bool, error) {
	return 0, false, nil
}

// countedAnswers counts what the sink has inserted.
type countedAnswers struct {
	*sink.Answers
	records atomic.Int64
}

func (c *countedAnswers) Insert(ctx context.Context, b *consume.Batch[sink.Answer], checkOwnership func() error) error {
	err := c.Answers.Insert(ctx, b, checkOwnership)
	if err == nil {
		c.records.Add(int64(len(b.Items)))
	}
	return err
}
