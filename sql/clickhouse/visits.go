package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// VisitKey is what a visit is known by.
type VisitKey struct {
	OrganizationID UUID `ch:"organization_id"`
	BrandID        UUID `ch:"brand_id"`
	ID             UUID `ch:"id"`
}

type landedVisitsParams struct {
	Organizations []UUID   `ch:"organizations"`
	Brands        []UUID   `ch:"brands"`
	Days          []Day    `ch:"days"`
	Times         []uint64 `ch:"times"`
	IDs           []UUID   `ch:"ids"`
	Topic         string   `ch:"topic"`
	Partition     int32    `ch:"partition"`
	Below         int64    `ch:"below"`
}

var landedVisits = query[landedVisitsParams, VisitKey]("landed_visits")

// daysBeside is how many days a visit's own may be from that of its id: they are
// within 24 hours.
const daysBeside = 1

// LandedVisits says which of keys are in the landing table, as far as below lets
// it see. made tells the instant in an id.
func LandedVisits(ctx context.Context, conn *Conn, keys []VisitKey, made func(UUID) time.Time, below Below) (map[VisitKey]bool, error) {
	landed := make(map[VisitKey]bool)
	for some := range slices.Chunk(keys, keysAtOnce) {
		rows, err := landedVisits.All(ctx, conn, lookUpVisits(some, made, below))
		if err != nil {
			return nil, err
		}
		for _, key := range rows {
			landed[key] = true
		}
	}
	return landed, nil
}

func lookUpVisits(keys []VisitKey, made func(UUID) time.Time, below Below) landedVisitsParams {
	p := landedVisitsParams{Topic: below.Topic, Partition: below.Partition, Below: below.Offset}
	days := map[Day]bool{}
	for _, key := range keys {
		at := made(key.ID)
		p.Organizations = append(p.Organizations, key.OrganizationID)
		p.Brands = append(p.Brands, key.BrandID)
		p.IDs = append(p.IDs, key.ID)
		p.Times = append(p.Times, uint64(at.UnixMilli()))
		for beside := -daysBeside; beside <= daysBeside; beside++ {
			days[DayOf(at.AddDate(0, 0, beside))] = true
		}
	}
	for day := range days {
		p.Days = append(p.Days, day)
	}
	slices.Sort(p.Days)
	slices.Sort(p.Times)
	p.Times = slices.Compact(p.Times)
	p.Organizations = distinct(p.Organizations, func(a, b UUID) int { return slices.Compare(a[:], b[:]) })
	p.Brands = distinct(p.Brands, func(a, b UUID) int { return slices.Compare(a[:], b[:]) })
	return p
}

type lastVisitsParams struct {
	Topic     string `ch:"topic"`
	Partition int32  `ch:"partition"`
	From      int64  `ch:"from"`
	Below     int64  `ch:"below"`
}

var lastVisits = query[lastVisitsParams, VisitKey]("last_visits")

// LastVisits are the visits that landed from the last offsets of a partition
// below an offset, in their order on the log.
func LastVisits(ctx context.Context, conn *Conn, offsets int64, below Below) ([]VisitKey, error) {
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

// NewestVisit is the latest time in the id of any visit that has landed; ok is
// false when none has.
func NewestVisit(ctx context.Context, conn *Conn) (at time.Time, ok bool, err error) {
	rows, err := newestVisit.All(ctx, conn, struct{}{})
	if err != nil || len(rows) == 0 {
		return time.Time{}, false, err
	}
	return time.UnixMilli(int64(rows[0].Newest)).UTC(), true, nil
}
