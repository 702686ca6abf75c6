package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// streaming is how many visits of some 380 bytes the bench takes from the log to the views, and how often.
var streaming = struct{ visits, rounds int }{1_000_000, 3}

// pipeline measures visits a second from a topic of six partitions into the landing table and the targets of its views,
// and the most memory that it takes: of a process of its own, answerscope pipeline as a person starts it, from the
// moment in which it has its partitions.
//
// Beside it, in every round: the same rows, made beforehand, inserted by as many writers in batches of the same size;
// and reading the topic alone. Doing one after the other would take the time of both: that is the ceiling.
func pipeline(ctx context.Context, o Options, s *stack, r *Result) error {
	var all streamed
	for round := range 1 + streaming.rounds {
		o.Progress("  round %d of %d", round, streaming.rounds)
		if round == 1 {
			all = streamed{} // round 0 warms the engine up, which compiles expressions and reads its own code from disk
		}
		if err := s.streamRound(ctx, round, &all); err != nil {
			return err
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
	return nil
}

// streamed is how long rounds took: in all, reading alone and inserting alone.
type streamed struct {
	whole, reading, inserting time.Duration
	size                      int   // bytes of a record
	memory                    int64 // bytes at most
}

// streamRound adds one round to m.
func (s *stack) streamRound(ctx context.Context, round int, m *streamed) (err error) {
	prefix := fmt.Sprintf("round-%d.", round)
	if err := s.createTopics(ctx, prefix); err != nil {
		return err
	}
	m.size, err = s.appendMany(ctx, prefix, event.TopicVisits, 0, streaming.visits, visitRecord)
	if err != nil {
		return err
	}
	whole, memory, err := s.stream(ctx, prefix, round)
	if err != nil {
		return err
	}
	read := &counting{}
	reading, err := consumeAll(ctx, s, s.consumer(prefix+"alone", prefix, event.TopicVisits), read, &read.records, streaming.visits)
	if err != nil {
		return err
	}
	inserting, err := s.insertAlone(ctx, round)
	m.whole, m.reading, m.inserting, m.memory = m.whole+whole, m.reading+reading, m.inserting+inserting, max(m.memory, memory)
	return err
}

// shortVisit is the i-th of visits of some 380 bytes.
func shortVisit(i int) event.Visit {
	v := someVisit(i)
	v.PlatformBy, v.Screen, v.Language = "", "", ""
	return v
}

func visitRecord(i int) (producer.Record, error) {
	v := shortVisit(i)
	value, err := event.EncodeVisit(nil, &v)
	return producer.Record{Value: value}, err
}

// appendMany appends the records first to last-1 of a topic, and returns the size of the last one.
func (s *stack) appendMany(
	ctx context.Context, prefix, topic string, first, last int, record func(i int) (producer.Record, error),
) (size int, err error) {
	const atOnce = 10_000
	err = s.appending(ctx, prefix, func(log *producer.Producer) error {
		for ; first < last; first += atOnce {
			var some []producer.Record
			for i := first; i < min(first+atOnce, last); i++ {
				r, err := record(i)
				if err != nil {
					return err
				}
				size = len(r.Value)
				some = append(some, r)
			}
			if _, err := log.AppendAll(ctx, topic, some); err != nil {
				return err
			}
		}
		return nil
	})
	return size, err
}

// stream measures how long a pipeline takes to bring a topic into a fresh warehouse, and its memory.
func (s *stack) stream(ctx context.Context, prefix string, round int) (took time.Duration, memory int64, err error) {
	name := fmt.Sprintf("streamed_%d", round)
	warehouse, err := s.warehouse(ctx, name)
	if err != nil {
		return 0, 0, err
	}
	p, assigned, err := s.startPipeline(ctx, name, prefix)
	if err != nil {
		return 0, 0, err
	}
	running, end := p.whileRunning(ctx)
	defer end()
	select {
	case begin := <-assigned:
		if err := awaitVisits(running, warehouse); err != nil {
			return 0, 0, err
		}
		took, memory = time.Since(begin), p.memory()
	case <-running.Done():
		return 0, 0, context.Cause(running)
	}
	return took, memory, errors.Join(p.stop(), eachVisitOnce(ctx, warehouse))
}

// startPipeline starts a pipeline, and returns when it was given the partitions of topic visits.
func (s *stack) startPipeline(ctx context.Context, database, prefix string) (*child, <-chan time.Time, error) {
	cmd, err := answerscope(ctx, []string{
		"ANSWERSCOPE_CLICKHOUSE_DSN=" + s.database(database), "ANSWERSCOPE_POSTGRES_DSN=" + s.postgres,
		"ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(s.connection.Brokers, ","), "ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + prefix,
	}, "pipeline", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	assigned := make(chan time.Time, 1)
	p, err := s.startChild(cmd, func(line string) {
		if strings.Contains(line, `msg="partitions assigned"`) && strings.Contains(line, "topic="+prefix+event.TopicVisits+" ") {
			select {
			case assigned <- time.Now():
			default: // not the first time
			}
		}
	})
	return p, assigned, err
}

// awaitVisits waits until every visit is in the table and its sums.
func awaitVisits(ctx context.Context, warehouse *clickhouse.Conn) error {
	rows, want := uint64(0), uint64(streaming.visits)
	most := func(enough uint64, every time.Duration) error {
		return poll(ctx, every, func() (bool, error) {
			// The table knows its number of rows: to add up the sums each time, too, took a third of the engine's work.
			err := warehouse.QueryRow(ctx, "SELECT count() FROM visits").Scan(&rows)
			if err == nil && rows >= want {
				rows, _, err = countVisits(ctx, warehouse)
			}
			return rows >= enough, err
		})
	}
	err := most(want*9/10, 100*time.Millisecond)
	if err == nil {
		err = most(want, 10*time.Millisecond) // to see the end when it comes
	}
	if err != nil {
		return fmt.Errorf("count visits, %d of %d: %w", rows, want, err)
	}
	return nil
}

// insertAlone measures how long the same rows take into a fresh warehouse without a log.
func (s *stack) insertAlone(ctx context.Context, round int) (took time.Duration, err error) {
	warehouse, err := s.warehouse(ctx, fmt.Sprintf("inserted_%d", round))
	if err != nil {
		return 0, err
	}
	size := s.consumer("", "", event.TopicVisits).Limits.Records
	partitions := producer.DefaultTopicsConfig().Partitions
	rows, packer := make([][]clickhouse.PackedVisit, partitions), clickhouse.VisitPacker{}
	for i := range streaming.visits {
		partition := i % partitions
		at := consume.Record{Topic: event.TopicVisits, Partition: int32(partition), Offset: int64(i / partitions)}
		v := shortVisit(i)
		row, err := sink.VisitRow(&at, &v)
		if err != nil {
			return 0, err
		}
		rows[partition] = append(rows[partition], packer.Pack(&row))
	}
	begin := time.Now()
	writers, within := errgroup.WithContext(ctx)
	for partition, mine := range rows {
		writers.Go(func() error {
			for first := 0; first < len(mine); first += size {
				some := mine[first:min(first+size, len(mine))]
				if err := clickhouse.Visits.Insert(within, warehouse, fmt.Sprintf("%d@%d", partition, first), some); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := writers.Wait(); err != nil {
		return 0, err
	}
	return time.Since(begin), eachVisitOnce(ctx, warehouse)
}

// countVisits counts those of the table and those of its sums, and returns the fewer and the more of both.
func countVisits(ctx context.Context, warehouse *clickhouse.Conn) (least, most uint64, err error) {
	const question = `
		WITH (SELECT count() FROM visits) AS rows, (SELECT toUInt64(sum(visits)) FROM visit_daily) AS summed
		SELECT least(rows, summed), greatest(rows, summed)`
	if err := warehouse.QueryRow(ctx, question).Scan(&least, &most); err != nil {
		return 0, 0, fmt.Errorf("count visits: %w", err)
	}
	return least, most, nil
}

// eachVisitOnce checks that each visit was inserted once.
func eachVisitOnce(ctx context.Context, warehouse *clickhouse.Conn) error {
	least, most, err := countVisits(ctx, warehouse)
	if want := uint64(streaming.visits); err == nil && (least != want || most != want) {
		err = fmt.Errorf("%d to %d visits were inserted, want %d", least, most, want)
	}
	return err
}
