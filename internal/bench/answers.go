package bench

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// answersTold is how many answers of 3 to 8 KB the bench takes from the log to
// the views.
var answersTold = 12_000

// answers measures rows a second from the log through extract into the landing
// table and the targets of its views. Its ceilings, in the same run, are reading
// the same topic alone, reading the answers alone (extract, one core), and
// landing the same answers, read beforehand, in batches of the same size.
func answers(ctx context.Context, o Options) (Result, error) {
	r := Result{Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	l, err := newLaboratory(ctx)
	if err != nil {
		return r, err
	}
	defer l.close()
	if err := l.startBroker(ctx, o.Broker); err != nil {
		return r, err
	}
	records, err := l.tell(ctx, answersTold)
	if err != nil {
		return r, err
	}
	n := float64(answersTold)

	read := &counting{}
	took, err := consumeAll(ctx, l, l.reading("read", event.TopicAnswers), read, &read.records, answersTold)
	if err != nil {
		return r, err
	}
	r.Ceilings["read_per_s"] = n / took.Seconds()

	warehouse, err := l.warehouse(ctx, "landed")
	if err != nil {
		return r, err
	}
	defer warehouse.Close()
	if err := land(ctx, &r, sink.New(warehouse, prometheus.NewRegistry(), l.log), records); err != nil {
		return r, err
	}

	whole, err := l.warehouse(ctx, "whole")
	if err != nil {
		return r, err
	}
	defer whole.Close()
	landing := &landings{Answers: sink.New(whole, prometheus.NewRegistry(), l.log)}
	if took, err = consumeAll(ctx, l, l.reading("whole", event.TopicAnswers), landing, &landing.records, answersTold); err != nil {
		return r, err
	}
	r.Figures["answers"] = n
	r.Figures["rows_per_s"] = n / took.Seconds()
	r.Ratios["insert"] = r.Figures["rows_per_s"] / r.Ceilings["insert_per_s"]
	r.Ratios["read"] = r.Figures["rows_per_s"] / r.Ceilings["read_per_s"]
	r.Ratios["ceiling"] = r.Figures["rows_per_s"] * (1/r.Ceilings["insert_per_s"] + 1/r.Ceilings["read_per_s"] + 1/r.Ceilings["extract_per_s"])
	return r, nil
}

// land measures extract and insert apart.
func land(ctx context.Context, r *Result, s *sink.Answers, records []consume.Record) error {
	var extracting, inserting time.Duration
	const size = 2000
	for first := 0; first < len(records); first += size {
		last := min(first+size, len(records)) - 1
		b := &consume.Batch[sink.Item]{Topic: "answers", First: int64(first), Last: int64(last), Plan: consume.Plan{Last: int64(last), ExtractVersion: extract.Version}}
		begin := time.Now()
		for i := first; i <= last; i++ {
			item, _, err := s.Read(extract.Version, records[i])
			if err != nil {
				return err
			}
			b.Items = append(b.Items, item)
		}
		extracting += time.Since(begin)
		begin = time.Now()
		if err := s.Land(ctx, b, func() error { return nil }); err != nil {
			return err
		}
		inserting += time.Since(begin)
	}
	r.Ceilings["extract_per_s"] = float64(len(records)) / extracting.Seconds()
	r.Ceilings["insert_per_s"] = float64(len(records)) / inserting.Seconds()
	return nil
}

// counting takes records and does nothing with them.
type counting struct{ records atomic.Int64 }

func (*counting) Version() int      { return extract.Version }
func (*counting) Supports(int) bool { return true }
func (*counting) Read(_ int, r consume.Record) (int, int, error) {
	return len(r.Value), 0, nil
}
func (c *counting) Land(_ context.Context, b *consume.Batch[int], _ func() error) error {
	c.records.Add(int64(len(b.Items)))
	return nil
}
func (*counting) Position(context.Context, string, int32) (int64, bool, error) {
	return 0, false, nil
}

// landings counts what the sink has landed.
type landings struct {
	*sink.Answers
	records atomic.Int64
}

func (l *landings) Land(ctx context.Context, b *consume.Batch[sink.Item], ours func() error) error {
	err := l.Answers.Land(ctx, b, ours)
	if err == nil {
		l.records.Add(int64(len(b.Items)))
	}
	return err
}
