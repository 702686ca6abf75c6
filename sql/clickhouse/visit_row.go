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
	words("log_topic", func(r *VisitRow) string { return r.LogTopic }),
	column("log_partition", func(r *VisitRow) int32 { return r.LogPartition }),
	column("log_offset", func(r *VisitRow) int64 { return r.LogOffset }),
	column("at", func(r *VisitRow) time.Time { return r.At }),
	words("event", func(r *VisitRow) string { return r.Event }),
	words("platform", func(r *VisitRow) string { return r.Platform }),
	words("platform_by", func(r *VisitRow) string { return r.PlatformBy }),
	words("host", func(r *VisitRow) string { return r.Host }),
	column("path", func(r *VisitRow) string { return r.Path }),
	words("referrer_host", func(r *VisitRow) string { return r.ReferrerHost }),
	words("country", func(r *VisitRow) string { return r.Country }),
	words("country_by", func(r *VisitRow) string { return r.CountryBy }),
	words("language", func(r *VisitRow) string { return r.Language }),
	words("screen", func(r *VisitRow) string { return r.Screen }),
	words("time_zone", func(r *VisitRow) string { return r.TimeZone }),
	column("session", func(r *VisitRow) string { return r.Session }),
	column("new_session", func(r *VisitRow) bool { return r.NewSession }),
	column("visitor", func(r *VisitRow) uint64 { return r.Visitor }),
	words("goal_name", func(r *VisitRow) string { return r.GoalName }),
	column("goal_value", func(r *VisitRow) *decimal.Decimal { return r.GoalValue }),
	words("goal_currency", func(r *VisitRow) string { return r.GoalCurrency }),
	column("simulated", func(r *VisitRow) bool { return r.Simulated }),
)
