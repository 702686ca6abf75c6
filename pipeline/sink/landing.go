package sink

import (
	"context"
	"fmt"
	"hash/crc32"
	"log/slog"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// landing is what every topic's target does alike once it knows its rows.
type landing[R placed] struct {
	table   clickhouse.Table[R]
	conn    *clickhouse.Conn
	metrics *metrics
	log     *slog.Logger
	writers chan struct{} // one for every insert under way
}

// writers bounds the inserts of a table that are under way at once. Two keep two cores
// busy while others wait for the disk, and more only share what there is.
const writers = 4

func newLanding[R placed](table clickhouse.Table[R], conn *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) landing[R] {
	return landing[R]{table, conn, newMetrics(registerer, table.Name), log, make(chan struct{}, writers)}
}

// take inserts the rows and dead letters of a batch, and counts what became of its
// records. It returns the rows of records that the server refuses: they are dead
// letters too. ours is asked before each insert.
func (l *landing[R]) take(ctx context.Context, s sending, rows []R, letters []clickhouse.DeadLetter, of outcomes, ours func() error) (refused []R, err error) {
	select {
	case l.writers <- struct{}{}:
		defer func() { <-l.writers }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := l.keep(ctx, s, letters, ours); err != nil {
		return nil, err
	}
	refused, late, err := l.insert(ctx, s, rows, ours)
	if err != nil {
		return nil, err
	}
	fault.Pass(fault.Inserted)
	letters = slices.Concat(letters, late)
	if err := l.reached(ctx, s, rows, letters); err != nil {
		return nil, err
	}
	if err := l.suspect(ctx, s, rows); err != nil {
		return nil, err
	}
	l.metrics.count(len(rows)-len(refused), without(of, refused), letters)
	if len(letters) > 0 { // one line for a batch, however much of it is garbage
		l.log.Warn("dead letters", "batch", s.name, "letters", len(letters), "first", letters[0].LogOffset, "reason", letters[0].Reason, "cause", letters[0].Detail,
			"next", "in the morning: answerscope deadletters list")
	}
	return refused, nil
}

// keep inserts the dead letters of a batch, before its rows: the build that repeats the
// batch may read a record that this one does not, and its row is dropped where the
// month has the token by then. Other letters have another token, for the same reason.
// So a record is in the landing table, in the dead letters, or in both, whoever has
// sent what of the batch.
func (l *landing[R]) keep(ctx context.Context, s sending, letters []clickhouse.DeadLetter, ours func() error) error {
	if len(letters) == 0 {
		return nil
	}
	if err := ours(); err != nil {
		return err
	}
	which := crc32.NewIEEE()
	for i := range letters {
		fmt.Fprintln(which, letters[i].LogOffset)
	}
	return clickhouse.DeadLetters.Insert(ctx, l.conn, fmt.Sprintf("%s/letters/%08x", s.token, which.Sum32()), letters)
}

// reached moves the position up to which all has landed where no view does: over dead
// letters, which come before the rows, and over rows that are not inserted again.
func (l *landing[R]) reached(ctx context.Context, s sending, rows []R, letters []clickhouse.DeadLetter) error {
	to := s.from
	to.Offset = -1
	for i := range letters {
		to.Offset = max(to.Offset, letters[i].LogOffset)
	}
	if n := len(rows); n > 0 {
		last := rows[n-1].Place().Record.Offset
		if !s.plan.Late && to.Offset < last {
			return nil
		}
		to.Offset = max(to.Offset, last)
	}
	if to.Offset < 0 {
		return nil
	}
	return clickhouse.MoveLogPosition(ctx, l.conn, to)
}

// Position is the largest offset of a partition that has landed.
func (l *landing[R]) Position(ctx context.Context, topic string, partition int32) (last int64, ok bool, err error) {
	return clickhouse.LogPosition(ctx, l.conn, topic, partition)
}
