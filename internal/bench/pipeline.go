package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

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
// landing table and the targets of its views, and the most memory that it takes:
// of a process of its own, answerscope pipeline as anybody starts it, from the
// moment in which it has its partitions.
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
	db, err := l.startPostgres(ctx)
	if err != nil {
		return r, err
	}
	db.Close()
	var all measured
	for round := range 1 + streaming.rounds {
		o.tell("  round %d of %d", round, streaming.rounds) // 0 warms the engine up, which compiles expressions and reads its own code from disk
		one, err := l.streamRound(ctx, round)
		if err != nil {
			return r, err
		}
		if round > 0 {
			all.add(one)
		}
	}
	n := float64(streaming.visits * streaming.rounds)
	r.Figures["visits"] = n
	r.Figures["record_bytes"] = float64(all.size)
	r.Figures["rss_bytes"] = float64(all.memory)
	r.Figures["rows_per_s"] = n / all.whole.Seconds()
	r.Ceilings["read_per_s"] = n / all.reading.Seconds()
	r.Ceilings["insert_per_s"] = n / all.inserting.Seconds()
	r.Ratios["insert"] = all.inserting.Seconds() / all.whole.Seconds()
	r.Ratios["read"] = all.reading.Seconds() / all.whole.Seconds()
	r.Ratios["ceiling"] = (all.inserting + all.reading).Seconds() / all.whole.Seconds()
	return r, nil
}

// measured is what rounds took: in all, reading alone and inserting alone.
type measured struct {
	whole, reading, inserting time.Duration
	size                      int   // bytes of a record
	memory                    int64 // bytes at most
}

func (m *measured) add(one measured) {
	m.whole, m.reading, m.inserting = m.whole+one.whole, m.reading+one.reading, m.inserting+one.inserting
	m.size, m.memory = one.size, max(m.memory, one.memory)
}

func (l *laboratory) streamRound(ctx context.Context, round int) (m measured, err error) {
	prefix := fmt.Sprintf("round-%d.", round)
	if m.size, err = l.tellVisits(ctx, prefix, streaming.visits); err != nil {
		return m, err
	}
	if m.whole, m.memory, err = l.stream(ctx, prefix, round); err != nil {
		return m, err
	}
	if m.reading, err = l.readAlone(ctx, prefix); err != nil {
		return m, err
	}
	m.inserting, err = l.insertAlone(ctx, round)
	return m, err
}

// streamed is the i-th of visits of some 380 bytes.
func streamed(i int) event.Visit {
	v := someVisit(i)
	v.PlatformBy, v.Screen, v.Language = "", "", ""
	return v
}

// tellVisits appends n visits to a topic of their own, and returns the size of the
// last one's record.
func (l *laboratory) tellVisits(ctx context.Context, prefix string, n int) (size int, err error) {
	if err := l.createTopics(ctx, prefix); err != nil {
		return 0, err
	}
	const atOnce = 10_000
	err = l.appending(ctx, prefix, func(log *producer.Producer) error {
		some := make([]producer.Record, 0, atOnce)
		for i := range n {
			v := streamed(i)
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

// stream has a pipeline take a topic into a fresh warehouse.
func (l *laboratory) stream(ctx context.Context, prefix string, round int) (took time.Duration, memory int64, err error) {
	name := fmt.Sprintf("streamed_%d", round)
	warehouse, err := l.warehouse(ctx, name)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, warehouse.Close()) }()
	p, err := l.startPipeline(ctx, name, prefix)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	begin, err := p.assigned(ctx)
	if err != nil {
		return 0, 0, err
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for rows := uint64(0); rows < uint64(streaming.visits); {
		select {
		case <-look.C:
		case <-p.ended:
			return 0, 0, fmt.Errorf("pipeline ended with %d of %d visits:\n%s", rows, streaming.visits, p.last())
		case <-ctx.Done():
			return 0, 0, context.Cause(ctx)
		}
		// The table knows its number of rows: to add up the sums each time, too, took a
		// third of the engine's work.
		if err = warehouse.QueryRow(ctx, "SELECT count() FROM visits").Scan(&rows); err != nil {
			return 0, 0, fmt.Errorf("count visits: %w", err)
		}
		if rows >= uint64(streaming.visits) {
			rows, err = landed(ctx, warehouse)
		} else if rows > uint64(streaming.visits)*9/10 {
			look.Reset(10 * time.Millisecond) // the end is to be seen when it comes
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return time.Since(begin), p.memory(), landedAll(ctx, warehouse)
}

// readAlone takes the topic nowhere.
func (l *laboratory) readAlone(ctx context.Context, prefix string) (time.Duration, error) {
	read, cfg := &counting{}, l.visits(prefix+"alone")
	cfg.Topic = prefix + cfg.Topic
	return consumeAll(ctx, l, cfg, read, &read.records, streaming.visits)
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
	rows, packer := make([][]clickhouse.PackedVisit, partitions), clickhouse.VisitPacker{}
	for i := range streaming.visits {
		partition := i % partitions
		at := consume.Record{Topic: event.TopicVisits, Partition: int32(partition), Offset: int64(i / partitions)}
		v := streamed(i)
		row, err := sink.VisitRow(&at, &v)
		if err != nil {
			return 0, err
		}
		rows[partition] = append(rows[partition], packer.Pack(&row))
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

// landed is how many visits are in the table and in its sums.
func landed(ctx context.Context, warehouse *clickhouse.Conn) (rows uint64, err error) {
	const question = "SELECT least((SELECT count() FROM visits), (SELECT toUInt64(sum(visits)) FROM visit_daily))"
	if err := warehouse.QueryRow(ctx, question).Scan(&rows); err != nil {
		return 0, fmt.Errorf("count visits: %w", err)
	}
	return rows, nil
}

// landedAll sees that each visit is there once.
func landedAll(ctx context.Context, warehouse *clickhouse.Conn) error {
	const question = "SELECT greatest((SELECT count() FROM visits), (SELECT toUInt64(sum(visits)) FROM visit_daily))"
	var most uint64
	if err := warehouse.QueryRow(context.WithoutCancel(ctx), question).Scan(&most); err != nil {
		return fmt.Errorf("count visits: %w", err)
	}
	least, err := landed(context.WithoutCancel(ctx), warehouse)
	if want := uint64(streaming.visits); err == nil && (least != want || most != want) {
		err = fmt.Errorf("%d to %d visits have landed, want %d", least, most, want)
	}
	return err
}
