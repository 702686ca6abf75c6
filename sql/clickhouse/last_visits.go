package clickhouse

import (
	"context"
	"fmt"
	"time"
)

type lastVisitsParams struct {
	Topic     string `ch:"topic"`
	Partition int32  `ch:"partition"`
	From      int64  `ch:"from"`
	Below     int64  `ch:"below"`
}

var lastVisits = query[lastVisitsParams, Key]("last_visits")

// LastVisits are the visits that landed from the last offsets of a partition below an offset, in their order on the log.
func LastVisits(ctx context.Context, conn *Conn, offsets int64, below Below) ([]Key, error) {
	rows, err := lastVisits.All(ctx, conn, lastVisitsParams{below.Topic, below.Partition, below.Offset - offsets, below.Offset})
	if err != nil {
		return nil, fmt.Errorf("read last visits of %s/%d: %w", below.Topic, below.Partition, err)
	}
	return rows, nil
}

type newestVisitRow struct {
	Newest uint64 `ch:"newest"`
}

var newestVisit = query[struct{}, newestVisitRow]("newest_visit")

// NewestVisit is the latest time in the id of any visit that has landed; ok is false when none has.
func NewestVisit(ctx context.Context, conn *Conn) (at time.Time, ok bool, err error) {
	rows, err := newestVisit.All(ctx, conn, struct{}{})
	if err != nil || len(rows) == 0 {
		return time.Time{}, false, err
	}
	return time.UnixMilli(int64(rows[0].Newest)).UTC(), true, nil
}
