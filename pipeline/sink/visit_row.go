package sink

import (
	"fmt"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// VisitRow is the landing row of a record.
func VisitRow(at *consume.Record, v *event.Visit) (clickhouse.VisitRow, error) {
	row := clickhouse.VisitRow{
		OrganizationID: clickhouse.UUID(v.OrganizationID),
		BrandID:        clickhouse.UUID(v.BrandID),
		ID:             clickhouse.UUID(v.ID),
		LogTopic:       at.Topic,
		LogPartition:   at.Partition,
		LogOffset:      at.Offset,

		At:           v.At.Time,
		Event:        string(v.Event),
		Platform:     v.Platform,
		PlatformBy:   v.PlatformBy,
		Host:         v.Host,
		Path:         v.Path,
		ReferrerHost: v.ReferrerHost,
		Country:      v.Country,
		CountryBy:    v.CountryBy,
		Language:     v.Language,
		Screen:       v.Screen,
		TimeZone:     v.TimeZone,
		Session:      v.Session,
		NewSession:   v.NewSession,
		Visitor:      v.Visitor,
		Simulated:    v.Simulated,
	}
	if g := v.Goal; g != nil {
		value, err := amount(g.Value, 18, 6)
		if err != nil {
			return row, fmt.Errorf("read value of goal: %w", err)
		}
		row.GoalName, row.GoalValue, row.GoalCurrency = g.Name, value, g.Currency
	}
	return row, nil
}
