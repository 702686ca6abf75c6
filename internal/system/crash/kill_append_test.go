package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// visitsALine is how many visits each brand's site has for a line: of a round so many that a partition, which is that
// of two brands or more, gets more than fit in one part of an insert, also where they come as two batches.
const visitsALine = 60

// crawlsALine is how many requests AI crawlers make of each brand's site for a line.
const crawlsALine = 5

// visits makes the visits of each brand's site for every line from one to another: the same ones each time.
func (k *killing) visits(t *testing.T, from, to int) []producer.Record {
	t.Helper()
	return k.facts(t, from*visitsALine, to*visitsALine, func(n int, at time.Time, brand uuid.UUID) ([]byte, error) {
		return event.EncodeVisit(nil, &event.Visit{
			V: event.Version, ID: event.RunID(event.Identity{BrandID: brand, Sample: int64(n), Due: at}),
			OrganizationID: k.organization, BrandID: brand,
			At: event.At(at), Event: event.VisitView, Platform: "chatgpt", Host: "lamp.example", Path: "/",
		})
	})
}

// crawls makes the requests of AI crawlers likewise.
func (k *killing) crawls(t *testing.T, from, to int) []producer.Record {
	t.Helper()
	return k.facts(t, from*crawlsALine, to*crawlsALine, func(n int, at time.Time, brand uuid.UUID) ([]byte, error) {
		return event.EncodeCrawl(nil, &event.Crawl{
			V: event.Version, ID: event.CrawlID(brand.String(), nil, n, at), OrganizationID: k.organization,
			BrandID: brand, At: event.At(at),
			Crawler: "GPTBot", Operator: "OpenAI", Platform: "chatgpt", Purpose: event.PurposeTraining,
			Host: "lamp.example", Path: "/", Status: 200,
		})
	})
}

// facts makes those from one number to another of each brand's site, a second apart.
func (k *killing) facts(t *testing.T, from, to int,
	fact func(n int, at time.Time, brand uuid.UUID) ([]byte, error)) []producer.Record {
	t.Helper()
	var records []producer.Record
	for n := from; n < to; n++ {
		at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
		for _, id := range k.brands {
			brand := uuid.Must(uuid.FromString(id))
			value, err := fact(n, at, brand)
			if err != nil {
				t.Fatal(err)
			}
			// every topic's key is the brand's id
			records = append(records, producer.Record{Key: event.BrandKey(brand), Value: value})
		}
	}
	return records
}

// A portion is appended at once.
type portion struct {
	topic   string
	records []producer.Record
}

// portions are all visits and crawls of some lines.
func (k *killing) portions(t *testing.T, from, to int) []portion {
	t.Helper()
	return []portion{{event.TopicVisits, k.visits(t, from, to)}, {event.TopicCrawls, k.crawls(t, from, to)}}
}

// append appends portions of records until ctx ends or one of them is not acknowledged for so long.
func (k *killing) append(ctx context.Context, t *testing.T, pointTimeout time.Duration, portions ...portion) error {
	t.Helper()
	cfg := producer.DefaultConfig()
	cfg.Brokers = k.brokers
	if cfg.Brokers == nil {
		set, err := engine.Open(t.Context(), engine.Options{
			DataDir: strings.TrimPrefix(k.env[0], "ANSWERSCOPE_DATA_DIR="), Kafka: true, Owner: "test",
			Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return err
		}
		defer func() { _ = set.Stop(context.Background()) }() // whose engines were killed meanwhile
		cfg.Connection = producer.Connection{
			Brokers: set.Kafka, Mechanism: engine.KafkaMechanism, Username: engine.KafkaUser,
			Password: config.NewSecret(set.KafkaPassword),
		}
	}
	cfg.AckTimeout = pointTimeout
	log, err := producer.New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan error, 1)
	go func() { stopped <- log.Run(running) }()
	for _, portion := range portions {
		if _, err = log.AppendAll(ctx, portion.topic, portion.records); err != nil {
			break
		}
	}
	stop()
	return errors.Join(err, <-stopped)
}

// appending appends the visits and crawls of this round at once, and those of the last one bit by
// bit, beside an import, until end; what a kill cuts off is appended again.
func (k *killing) appending(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	fresh := k.lines - linesARound
	portions := k.portions(t, fresh, k.lines)
	for _, last := range k.portions(t, max(0, fresh-linesARound), fresh) {
		for bit := range slices.Chunk(last.records, 300) {
			portions = append(portions, portion{last.topic, bit})
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = k.append(ctx, t, 3*time.Second, portions...) // the broker is killed under it
	}()
	return func() { cancel(); <-ended }
}

// appendAll appends every visit and crawl so far.
func (k *killing) appendAll(t *testing.T) {
	t.Helper()
	const atOnce = 10 * linesARound // lines that are in memory
	for from := 0; from < k.lines; from += atOnce {
		var portions []portion
		for some := from; some < min(from+atOnce, k.lines); some += linesARound {
			portions = append(portions, k.portions(t, some, some+linesARound)...)
		}
		if err := k.append(t.Context(), t, 30*time.Second, portions...); err != nil {
			t.Fatal(err)
		}
	}
}

// onlySmall says how large the inserts of visits were, unless one was of more rows than are sent as one, and has become
// one part all the same.
func onlySmall(t *testing.T, warehouse *clickhouse.Conn) string {
	t.Helper()
	var largest uint64
	if err := warehouse.QueryRow(t.Context(),
		"SELECT max(rows) FROM system.parts WHERE database = currentDatabase() AND table = 'visits' AND level = 0").
		Scan(&largest); err != nil {
		t.Fatal(err)
	}
	if largest <= clickhouse.RowsPerFlush {
		return fmt.Sprintf("the largest insert of visits was of %d rows, want more than %d", largest,
			clickhouse.RowsPerFlush)
	}
	return ""
}

// organizationOf asks whose key it is.
func organizationOf(t *testing.T, s *run.Server, key string) uuid.UUID {
	t.Helper()
	var who struct {
		OrganizationID uuid.UUID `json:"organizationId"`
	}
	_, body := run.Fetch(t, s.URL+"/api/v1/whoami", key)
	if err := json.Unmarshal([]byte(body), &who); err != nil {
		t.Fatal(body, err)
	}
	return who.OrganizationID
}
