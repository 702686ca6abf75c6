package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// streaming is how many visits of some 380 bytes the bench takes from the log to
// the views, and how often.
var streaming = struct{ visits, rounds int }{1_000_000, 3}

// pipeline measures visits a second from a topic of six partitions into the
// landing table and the targets of its views, and the most memory that this
// process (consumers, and the broker if it is embedded) held while it did so.
//
// Beside it, in every round: the same rows, made beforehand, inserted by as many
// writers in batches of the same size; and reading the topic alone. Doing one after
// the other would take the time of both: that is the ceiling.
func pipeline(ctx context.Context, o Options) (_ Result, err error) {
	r := Result{Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	l, err := newLaboratory(ctx)
	if err != nil {
		return r, err
	}
	defer l.close()
	if err := l.startBroker(ctx, o.Broker); err != nil {
		return r, err
	}
	o.tell("  appending %d visits", streaming.visits)
	size, err := l.tellVisits(ctx, streaming.visits)
	if err != nil {
		return r, err
	}
	var whole, reading, inserting time.Duration
	for round := range streaming.rounds {
		o.tell("  round %d of %d", round+1, streaming.rounds)
		took, memory, err := l.stream(ctx, round)
		if err != nil {
			return r, err
		}
		whole += took
		r.Figures["rss_bytes"] = max(r.Figures["rss_bytes"], float64(memory))
		if took, err = l.readAlone(ctx, round); err != nil {
			return r, err
		}
		reading += took
		if took, err = l.insertAlone(ctx, round); err != nil {
			return r, err
		}
		inserting += took
	}
	n := float64(streaming.visits * streaming.rounds)
	r.Figures["visits"] = n
	r.Figures["record_bytes"] = float64(size)
	r.Figures["rows_per_s"] = n / whole.Seconds()
	r.Ceilings["read_per_s"] = n / reading.Seconds()
	r.Ceilings["insert_per_s"] = n / inserting.Seconds()
	r.Ratios["insert"] = inserting.Seconds() / whole.Seconds()
	r.Ratios["read"] = reading.Seconds() / whole.Seconds()
	r.Ratios["ceiling"] = (inserting + reading).Seconds() / whole.Seconds()
	return r, nil
}

// tellVisits appends n visits, and returns the size of the last one's record.
func (l *laboratory) tellVisits(ctx context.Context, n int) (size int, err error) {
	const atOnce = 10_000
	err = l.appending(ctx, func(log *producer.Producer) error {
		some := make([]producer.Record, 0, atOnce)
		for i := range n {
			v := someVisit(i)
			value, err := event.EncodeVisit(nil, &v)
			if err != nil {
				return err
			}
			size = len(value)
			if some = append(some, producer.Record{Value: value}); len(some) < atOnce && i < n-1 {
				continue
			}
			if _, err := log.AppendAll(ctx, event.TopicVisits, some); err != nil {
				return err
			}
			some = some[:0]
		}
		return nil
	})
	return size, err
}

// visits is how a new group reads topic visits, as the pipeline does.
func (l *laboratory) visits(group string) consume.Config {
	cfg := l.reading(group, event.TopicVisits)
	cfg.Limits = sink.LimitsOfVisits(cfg.Limits)
	return cfg
}

// stream takes the topic into a fresh warehouse.
func (l *laboratory) stream(ctx context.Context, round int) (took time.Duration, memory int64, err error) {
	warehouse, err := l.warehouse(ctx, fmt.Sprintf("streamed_%d", round))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, warehouse.Close()) }()
	landing := &visitLandings{Visits: sink.NewVisits(warehouse, sink.Remembered, prometheus.NewRegistry(), l.log)}
	debug.FreeOSMemory() // what this process did before is not the pipeline's
	held := watchMemory()
	took, err = consumeAll(ctx, l, l.visits(fmt.Sprintf("stream-%d", round)), landing, &landing.records, streaming.visits)
	memory = held()
	if err != nil {
		return 0, 0, err
	}
	return took, memory, landedAll(ctx, warehouse)
}

// readAlone takes the topic nowhere.
func (l *laboratory) readAlone(ctx context.Context, round int) (time.Duration, error) {
	read := &counting{}
	return consumeAll(ctx, l, l.visits(fmt.Sprintf("read-%d", round)), read, &read.records, streaming.visits)
}

// insertAlone takes the same rows into a fresh warehouse without a log.
func (l *laboratory) insertAlone(ctx context.Context, round int) (took time.Duration, err error) {
	warehouse, err := l.warehouse(ctx, fmt.Sprintf("inserted_%d", round))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, warehouse.Close()) }()
	size := l.visits("").Limits.Records
	partitions := producer.DefaultTopicsConfig().Partitions
	rows := make([][]*clickhouse.VisitRow, partitions)
	for i := range streaming.visits {
		partition := i % partitions
		at := consume.Record{Topic: event.TopicVisits, Partition: int32(partition), Offset: int64(i / partitions)}
		v := someVisit(i)
		row, err := sink.VisitRow(&at, &v)
		if err != nil {
			return 0, err
		}
		rows[partition] = append(rows[partition], row)
	}
	begin := time.Now()
	writers, ctx := errgroup.WithContext(ctx)
	for partition, mine := range rows {
		writers.Go(func() error {
			for first := 0; first < len(mine); first += size {
				some := mine[first:min(first+size, len(mine))]
				if err := clickhouse.Visits.Insert(ctx, warehouse, fmt.Sprintf("%d@%d", partition, first), some); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := writers.Wait(); err != nil {
		return 0, err
	}
	took = time.Since(begin)
	return took, landedAll(ctx, warehouse)
}

// landedAll sees that a warehouse has every visit, in the table and in its sums.
func landedAll(ctx context.Context, warehouse *clickhouse.Conn) error {
	var rows, sum uint64
	err := warehouse.QueryRow(context.WithoutCancel(ctx), "SELECT (SELECT count() FROM visits), (SELECT toUInt64(sum(visits)) FROM visit_daily)").Scan(&rows, &sum)
	if err != nil {
		return fmt.Errorf("count visits: %w", err)
	}
	if want := uint64(streaming.visits); rows != want || sum != want {
		return fmt.Errorf("%d visits landed and %d are summed, want %d of each", rows, sum, want)
	}
	return nil
}

// visitLandings counts what the sink has landed.
type visitLandings struct {
	*sink.Visits
	records atomic.Int64
}

func (l *visitLandings) Land(ctx context.Context, b *consume.Batch[sink.Visit], ours func() error) error {
	err := l.Visits.Land(ctx, b, ours)
	if err == nil {
		l.records.Add(int64(len(b.Items)))
	}
	return err
}

// watchMemory looks at the resident memory of this process until the returned
// function is called, which says the most that it was, in bytes; 0 where the
// system does not tell.
func watchMemory() (most func() int64) {
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		look := time.NewTicker(20 * time.Millisecond)
		defer look.Stop()
		var most int64
		for {
			most = max(most, residentMemory())
			select {
			case <-look.C:
			case <-stop:
				peak <- most
				return
			}
		}
	}()
	return func() int64 { close(stop); return <-peak }
}

func residentMemory() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
