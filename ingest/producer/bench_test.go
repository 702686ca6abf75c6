package producer

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
)

// visit is about as large as a visit's record, and compresses like one.
func visit(i int) []byte {
	return fmt.Appendf(nil, `{"v":1,"id":"019cae6b-6600-7abc-8def-%012x",`+
		`"organization_id":"5b0f4a52-6c1e-4f43-9a37-0d9b0f7c1a01","brand_id":"0a4c9d0e-4f7a-4a43-8c1b-6f1e2d3c4b02",`+
		`"at":"2026-03-02T12:00:00.%03dZ","event":"view","platform":"chatgpt","host":"www.breville.com",`+
		`"path":"/shop/espresso/%d","referrer_host":"chatgpt.com","country":"DE","language":"de-DE","session":"%x",`+
		`"visitor":%d}`,
		i, i%1000, i%97, i*7919, uint64(i)*0x9e3779b97f4a7c15)
}

func benchBrokers(b *testing.B) map[string][]string {
	// synced writes
	k, err := engine.StartKafka(b.Context(), engine.KafkaConfig{Dir: b.TempDir(), NoPassword: true,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = k.Stop(b.Context()) })
	return map[string][]string{"kafka": k.Brokers(), "apache": testkit.ApacheKafka(b)}
}

// BenchmarkAppend is the collector's way: 256 at once, each waiting for its own acknowledgement. The naive way is one
// synchronous request for each of them. Best seen on two cores of an AMD EPYC that the broker and other work shared:
// 152 k/s on Apache Kafka (naive 4.6 k/s), 81 k/s on the embedded broker with synced writes (naive 1.0 k/s).
func BenchmarkAppend(b *testing.B) {
	for kind, brokers := range benchBrokers(b) {
		b.Run(kind+"/append", func(b *testing.B) {
			p := running(b, brokers, freshTopics(b, brokers, 2), nil)
			parallel(b, func(value []byte) error { return p.Append(b.Context(), event.TopicVisits, value) })
		})
		b.Run(kind+"/spool", func(b *testing.B) { // Kafka is well: what having one costs
			p := running(b, brokers, freshTopics(b, brokers, 2), spooling(b.TempDir()))
			parallel(b, func(value []byte) error { return p.Append(b.Context(), event.TopicVisits, value) })
			b.ReportMetric(testutil.ToFloat64(p.metrics.spilled)/float64(b.N), "spooled/op")
		})
		b.Run(kind+"/naive", func(b *testing.B) {
			topic := freshTopics(b, brokers, 2) + event.TopicVisits
			w := &kafka.Writer{Addr: kafka.TCP(brokers...), Topic: topic, RequiredAcks: kafka.RequireAll, BatchSize: 1,
				Transport: &kafka.Transport{}}
			defer w.Close()
			parallel(b, func(value []byte) error { return w.WriteMessages(b.Context(), kafka.Message{Value: value}) })
		})
	}
}

func parallel(b *testing.B, put func([]byte) error) {
	if err := put(visit(0)); err != nil { // connections and metadata
		b.Fatal(err)
	}
	b.SetParallelism(128)
	b.ReportAllocs()
	var n atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		value := visit(int(n.Add(1)))
		for pb.Next() {
			if err := put(value); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkAppendAll is an import's way: many records handed in at once. The ceiling is the same bytes in requests of
// 6,000 records, one after the other. Best seen on the same machine: 519 k/s on Apache Kafka, 397 k/s on the embedded
// broker (ceiling 765 k/s; batches of 4 MB instead of 1 MB gave 499 k/s).
func BenchmarkAppendAll(b *testing.B) {
	values := make([][]byte, 60_000)
	for i := range values {
		values[i] = visit(i)
	}
	for kind, brokers := range benchBrokers(b) {
		b.Run(kind+"/append_all", func(b *testing.B) {
			p := running(b, brokers, freshTopics(b, brokers, 2), nil)
			records := make([]Record, len(values))
			for i, v := range values {
				records[i] = Record{Value: v}
			}
			for b.Loop() {
				if n, err := p.AppendAll(b.Context(), event.TopicVisits, records); err != nil {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(b.N*len(values))/b.Elapsed().Seconds(), "records/s")
		})
		b.Run(kind+"/ceiling", func(b *testing.B) {
			topic := freshTopics(b, brokers, 2) + event.TopicVisits
			client := &kafka.Client{Addr: kafka.TCP(brokers...), Transport: &kafka.Transport{}}
			for b.Loop() {
				for from := 0; from < len(values); from += 6000 {
					batch := make([]kafka.Record, 6000)
					for i := range batch {
						batch[i].Value = kafka.NewBytes(values[from+i])
					}
					res, err := client.Produce(b.Context(), &kafka.ProduceRequest{
						Topic: topic, Partition: from / 6000 % 2, RequiredAcks: kafka.RequireAll,
						Compression: kafka.Lz4, Records: kafka.NewRecordReader(batch...),
					})
					if err != nil || res.Error != nil {
						b.Fatal(err, res.Error)
					}
				}
			}
			b.ReportMetric(float64(b.N*len(values))/b.Elapsed().Seconds(), "records/s")
		})
	}
}
