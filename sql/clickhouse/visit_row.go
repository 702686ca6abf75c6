package clickhouse

import (
	"time"

	"github.com/shopspring/decimal"
)

// VisitRow is one row of the landing table visits: a beacon that was accepted.
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
	GoalValue    *decimal.Decimal // nil: none was told
	GoalCurrency string
	Simulated    bool
}

// Visits is the landing table of topic visits. A row is large, and pointed at.
var Visits = columnar("visits",
	column("organization_id", func(r *VisitRow) UUID { return r.OrganizationID }),
	column("brand_id", func(r *VisitRow) UUID { return r.BrandID }),
	column("day", func(r *VisitRow) time.Time { return r.At.Truncate(24 * time.Hour) }),
	column("id", func(r *VisitRow) UUID { return r.ID }),
	column("log_topic", func(r *VisitRow) string { return r.LogTopic }),
	column("log_partition", func(r *VisitRow) int32 { return r.LogPartition }),
	column("log_offset", func(r *VisitRow) int64 { return r.LogOffset }),
	column("at", func(r *VisitRow) time.Time { return r.At }),
	column("event", func(r *VisitRow) string { return r.Event }),
	column("platform", func(r *VisitRow) string { return r.Platform }),
	column("platform_by", func(r *VisitRow) string { return r.PlatformBy }),
	column("host", func(r *VisitRow) string { return r.Host }),
	column("path", func(r *VisitRow) string { return r.Path }),
	column("referrer_host", func(r *VisitRow) string { return r.ReferrerHost }),
	column("country", func(r *VisitRow) string { return r.Country }),
	column("country_by", func(r *VisitRow) string { return r.CountryBy }),
	column("language", func(r *VisitRow) string { return r.Language }),
	column("screen", func(r *VisitRow) string { return r.Screen }),
	column("time_zone", func(r *VisitRow) string { return r.TimeZone }),
	column("session", func(r *VisitRow) string { return r.Session }),
	column("new_session", func(r *VisitRow) bool { return r.NewSession }),
	column("visitor", func(r *VisitRow) uint64 { return r.Visitor }),
	column("goal_name", func(r *VisitRow) string { return r.GoalName }),
	column("goal_value", func(r *VisitRow) *decimal.Decimal { return r.GoalValue }),
	column("goal_currency", func(r *VisitRow) string { return r.GoalCurrency }),
	column("simulated", func(r *VisitRow) bool { return r.Simulated }),
)
