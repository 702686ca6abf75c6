package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// VisitRow is one row of the landing table visits: a beacon that was accepted. It is inserted as a PackedVisit.
type VisitRow struct {
	OrganizationID UUID
	BrandID        UUID
	ID             UUID
	LogTopic       string
	LogPartition   int32
	LogOffset      int64

	At           time.Time
	Event        string
	Platform     string
	PlatformBy   string
	Host         string
	Path         string
	ReferrerHost string
	Country      string
	CountryBy    string
	Language     string
	Screen       string
	TimeZone     string
	Session      string
	NewSession   bool
	Visitor      uint64
	GoalName     string
	GoalValue    *decimal.Decimal // nil: none was sent
	GoalCurrency string
	Simulated    bool
}

// Visits is the landing table of topic visits.
var Visits = landing(columnar("visits",
	column("organization_id", func(p PackedVisit) UUID { return p.uuid(packedOrganization) }),
	column("brand_id", func(p PackedVisit) UUID { return p.uuid(packedBrand) }),
	column("day", PackedVisit.At),
	column("id", func(p PackedVisit) UUID { return p.uuid(packedID) }),
	column("log_topic", visitText(textTopic)),
	column("log_partition", func(p PackedVisit) int32 { return int32(p.uint32(packedPartition)) }),
	column("log_offset", func(p PackedVisit) int64 { return int64(p.uint64(packedOffset)) }),
	column("at", func(p PackedVisit) int64 { return int64(p.uint64(packedAt)) }),
	column("event", visitText(textEvent)),
	column("platform", visitText(textPlatform)),
	column("platform_by", visitText(textPlatformBy)),
	column("host", visitText(textHost)),
	column("path", visitText(textPath)),
	column("referrer_host", visitText(textReferrerHost)),
	column("country", visitText(textCountry)),
	column("country_by", visitText(textCountryBy)),
	column("language", visitText(textLanguage)),
	column("screen", visitText(textScreen)),
	column("time_zone", visitText(textTimeZone)),
	column("session", visitText(textSession)),
	column("new_session", func(p PackedVisit) bool { return p.flag(flagNewSession) }),
	column("visitor", func(p PackedVisit) uint64 { return p.uint64(packedVisitor) }),
	column("goal_name", visitText(textGoalName)),
	column("goal_value", PackedVisit.value),
	column("goal_currency", visitText(textGoalCurrency)),
	column("simulated", func(p PackedVisit) bool { return p.flag(flagSimulated) }),
), factKey)

func visitText(which int) func(PackedVisit) string {
	return func(p PackedVisit) string { return p.text(which) }
}

type lastVisitsParams struct {
	Topic     string `ch:"topic"`
	Partition int32  `ch:"partition"`
	From      int64  `ch:"from"`
	Below     int64  `ch:"below"`
}

var lastVisits = query[lastVisitsParams, Key]("last_visits")

// LastVisits are the visits that landed from the last offsets of a partition below an offset, in their order on the
// log.
func LastVisits(ctx context.Context, conn *Conn, offsets int64, below LogLimit) ([]Key, error) {
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
