package sink

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Visits is the sink of topic visits.
type Visits = Sink[clickhouse.PackedVisit]

// Visit is an item of Visits.
type Visit = Item[clickhouse.PackedVisit]

// NewVisits returns the sink of topic visits. It keeps cachedIDs ids of each partition in memory (CachedVisitIDs).
func NewVisits(conn *clickhouse.Conn, cachedIDs int, registerer prometheus.Registerer, log *slog.Logger) *Visits {
	s := newSink(topic[clickhouse.PackedVisit]{
		name:     event.TopicVisits,
		table:    clickhouse.Visits,
		version:  noExtractor,
		supports: func(version int) bool { return version == noExtractor },
		decode:   decodeVisit,
		landed:   clickhouse.Visits.Landed,
	}, conn, registerer, log)
	s.cache = newVisitCache(cachedIDs)
	return s
}

// noExtractor is the extract version in plans of visits and crawls, which no extractor reads.
const noExtractor = 1

// VisitLimits raises the records of a batch and lowers its bytes to 12 MB, since visits are small and an insert costs
// the server some 50 ms beside its rows. 40,000 records were hardly faster, and took 60 MB more for six partitions with
// a backlog.
func VisitLimits(l consume.Limits) consume.Limits {
	l.Records, l.Bytes = 25_000, 12<<20
	return l
}

// A visitDecoder holds the memory into which one record after the other is decoded.
type visitDecoder struct {
	visit  event.Visit
	packer clickhouse.VisitPacker
}

var visitDecoders = sync.Pool{New: func() any { return new(visitDecoder) }}

func decodeVisit(_ int, r consume.Record) (packed clickhouse.PackedVisit, _ bool, err error) {
	d := visitDecoders.Get().(*visitDecoder)
	defer visitDecoders.Put(d)
	if err := event.DecodeVisit(r.Value, &d.visit); err != nil {
		return "", false, err
	}
	row, err := VisitRow(&r, &d.visit)
	if err != nil {
		return "", false, err
	}
	return d.packer.Pack(&row), false, nil
}

// VisitRow makes the landing row of a record.
func VisitRow(record *consume.Record, v *event.Visit) (clickhouse.VisitRow, error) {
	row := clickhouse.VisitRow{
		OrganizationID: clickhouse.UUID(v.OrganizationID),
		BrandID:        clickhouse.UUID(v.BrandID),
		ID:             clickhouse.UUID(v.ID),
		LogTopic:       record.Topic,
		LogPartition:   record.Partition,
		LogOffset:      record.Offset,

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
		value, err := amount(g.Value, 6)
		if err != nil {
			return row, fmt.Errorf("read value of goal: %w", err)
		}
		row.GoalName, row.GoalValue, row.GoalCurrency = g.Name, value, g.Currency
	}
	return row, nil
}
