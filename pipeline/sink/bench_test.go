package sink_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// long is an answer of the size of real ones: 4 KB of text, six competitors, ten
// citations.
func long(n int) *event.Answer {
	a := answer(n)
	a.Text = strings.Repeat("Lumen is a good choice for most rooms. Glow is brighter, though it costs more than Ray does. ", 45)
	for i := range 5 {
		a.Competitors = append(a.Competitors, event.Entity{ID: uuid.UUID{9, byte(i)}, Name: fmt.Sprintf("Rival%c", 'A'+i)})
		a.Citations = append(a.Citations, event.Citation{URL: fmt.Sprintf("https://site-%d.example/%d?utm_source=x", i, n%50), Title: "A page", Cited: true})
	}
	a.Products = nil
	return a
}

// BenchmarkLand is how many answers a second one consumer takes from records to
// rows in every table.
func BenchmarkLand(b *testing.B) {
	c := clickhouse.DefaultConfig()
	c.DSN = testkit.ClickHouse(b)
	if err := clickhouse.Migrate(b.Context(), c, func(string) {}); err != nil {
		b.Fatal(err)
	}
	conn, err := clickhouse.Open(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	s := sink.New(conn, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	const size = 4000
	records := make([]consume.Record, size)
	for i := range records {
		value, err := event.EncodeAnswer(nil, long(i))
		if err != nil {
			b.Fatal(err)
		}
		records[i] = consume.Record{Topic: "answers", Offset: int64(i), Value: value}
	}
	var reading, landing time.Duration
	rows := 0
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		batch := &consume.Batch[sink.Item]{Topic: "answers", Partition: int32(n), Last: size - 1, Plan: consume.Plan{Last: size - 1, ExtractVersion: extract.Version}}
		for i := range records {
			records[i].Partition = int32(n)
			item, _, err := s.Read(extract.Version, records[i])
			if err != nil {
				b.Fatal(err)
			}
			batch.Items = append(batch.Items, item)
		}
		reading += time.Since(began)
		began = time.Now()
		if err := s.Land(b.Context(), batch, func() error { return nil }); err != nil {
			b.Fatal(err)
		}
		landing += time.Since(began)
		rows += size
		if err := conn.Exec(b.Context(), "TRUNCATE TABLE answers"); err != nil { // so that the next batch tells first
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/reading.Seconds(), "read/s")
	b.ReportMetric(float64(rows)/landing.Seconds(), "landed/s")
}
