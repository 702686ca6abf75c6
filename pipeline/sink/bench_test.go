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
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// long is an answer of the size of real ones: 4 KB of text, six competitors, ten citations.
func long(n int) *event.Answer {
	a := answer(n)
	a.Text = strings.Repeat("Lumen is a good choice for most rooms. Glow is brighter, though it costs more than Ray "+
		"does. ", 45)
	for i := range 5 {
		a.Competitors = append(a.Competitors, event.Entity{ID: uuid.UUID{9, byte(i)},
			Name: fmt.Sprintf("Rival%c", 'A'+i)})
		a.Citations = append(a.Citations, event.Citation{URL: fmt.Sprintf("https://site-%d.example/%d?utm_source=x", i,
			n%50), Title: "A page", Cited: true})
	}
	a.Products = nil
	return a
}

// BenchmarkLand is how many answers a second one consumer takes from records to rows in every table.
func BenchmarkLand(b *testing.B) {
	conn := migrated(b)
	s := sink.NewAnswers(conn, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
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
		batch := &consume.Batch[sink.Answer]{Topic: "answers", Partition: int32(n), Last: size - 1,
			Plan: consume.Plan{Last: size - 1, ExtractVersion: extract.Version}}
		for i := range records {
			records[i].Partition = int32(n)
			item, _, err := s.Decode(extract.Version, records[i])
			if err != nil {
				b.Fatal(err)
			}
			batch.Items = append(batch.Items, item)
		}
		reading += time.Since(began)
		began = time.Now()
		if err := s.Insert(b.Context(), batch, func() error { return nil }); err != nil {
			b.Fatal(err)
		}
		landing += time.Since(began)
		rows += size
		// so that the ids of the next batch are new
		if err := conn.Exec(b.Context(), "TRUNCATE TABLE answers"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/reading.Seconds(), "read/s")
	b.ReportMetric(float64(rows)/landing.Seconds(), "landed/s")
}

// BenchmarkLandVisits is how many visits a second one consumer takes from records to rows in every table.
func BenchmarkLandVisits(b *testing.B) {
	for _, size := range []int{2_500, 25_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchmarkLandVisits(b, size) })
	}
}

func benchmarkLandVisits(b *testing.B, size int) {
	conn := migrated(b)
	s := sink.NewVisits(conn, sink.CachedVisitIDs, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	paths, sources := []string{"/", "/products", "/products/new", "/support/warranty", "/stories/how-it-is-made/"},
		[]string{"chatgpt", "perplexity", "gemini", "claude"}
	next := 0
	var reading, landing time.Duration
	for b.Loop() {
		b.StopTimer()
		records := make([]consume.Record, size)
		for i := range records {
			at := day.Add(time.Duration(next) * time.Millisecond / 4)
			v := visit(uuid.UUID{1, byte(next % 200)}, next)
			v.ID, v.At = event.RunID(event.Identity{Sample: int64(next), Due: at}), event.At(at)
			v.Path, v.Platform, v.ReferrerHost, v.Country, v.CountryBy, v.Language = paths[next%5], sources[next%4],
				"chatgpt.com", []string{"DE", "US", "FR", "GB", ""}[next/7%5], "time_zone", "en-US"
			v.Screen, v.TimeZone, v.Session, v.Visitor, v.NewSession = "1920x1080", "Europe/Berlin",
				fmt.Sprintf("%016x", next/3), uint64(next)*0x9e3779b97f4a7c15, next%3 == 0
			value, err := event.EncodeVisit(nil, v)
			if err != nil {
				b.Fatal(err)
			}
			records[i] = consume.Record{Topic: "visits", Offset: int64(next), Value: value}
			next++
		}
		b.StartTimer()
		began := time.Now()
		batch := &consume.Batch[sink.Visit]{Topic: "visits", First: records[0].Offset, Last: int64(next - 1)}
		for i := range records {
			item, _, err := s.Decode(1, records[i])
			if err != nil {
				b.Fatal(err)
			}
			batch.Items = append(batch.Items, item)
		}
		reading += time.Since(began)
		began = time.Now()
		if err := s.Insert(b.Context(), batch, func() error { return nil }); err != nil {
			b.Fatal(err)
		}
		landing += time.Since(began)
	}
	b.ReportMetric(float64(next)/reading.Seconds(), "read/s")
	b.ReportMetric(float64(next)/landing.Seconds(), "landed/s")
}
