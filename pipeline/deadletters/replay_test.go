package deadletters_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/deadletters"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// world is a log with a sink that runs as long as the test.
type world struct {
	conn   *clickhouse.Conn
	log    *producer.Producer
	prefix string
}

func newWorld(t *testing.T, brokers []string) *world {
	t.Helper()
	w := &world{prefix: testkit.Prefix(t), conn: store.OpenWarehouse(t, store.Warehouse(t))}
	var err error
	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix, topics.Partitions = brokers, w.prefix, 2
	if _, err := producer.CreateTopics(t.Context(), topics); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	cfg := producer.DefaultConfig()
	cfg.Brokers, cfg.Prefix = brokers, w.prefix
	if w.log, err = producer.New(cfg, log, prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	reading := consume.DefaultConfig()
	reading.Brokers, reading.Group, reading.Topic = brokers, w.prefix+"sink", w.prefix+event.TopicAnswers
	consumer, err := consume.New(reading, sink.NewAnswers(w.conn, prometheus.NewRegistry(), log), prometheus.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	w.running(t, w.log.Run, consumer.Run)
	return w
}

// running runs parts until the test ends.
func (w *world) running(t *testing.T, parts ...func(context.Context) error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, len(parts))
	for _, run := range parts {
		go func() { ended <- run(ctx) }()
	}
	t.Cleanup(func() {
		stop()
		for range parts {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// until waits for a question's number.
func (w *world) until(t *testing.T, want uint64, question string) {
	t.Helper()
	bound := time.NewTimer(90 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for {
		var n uint64
		if err := w.conn.QueryRow(t.Context(), question).Scan(&n); err != nil {
			t.Fatal(question, err)
		}
		if n == want {
			return
		}
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatalf("%s: %d for 90 s, want %d", question, n, want)
		}
	}
}

var day = time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)

// answer is the n-th answer on a platform.
func answer(t *testing.T, n int, platform string) []byte {
	t.Helper()
	at := day.Add(time.Duration(n) * time.Minute)
	brand := uuid.Must(uuid.FromString("01890000-0000-7000-8000-000000000001"))
	value, err := event.EncodeAnswer(nil, &event.Answer{
		V: event.Version, ID: event.RunID(event.Identity{BrandID: brand, Platform: platform, Sample: int64(n + 1), Due: at}),
		OrganizationID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000a")),
		Brand:          event.Brand{Entity: event.Entity{ID: brand, Name: "Lumen", Domains: []string{"lumen.example"}}, Revision: 1},
		Prompt: event.Prompt{
			ID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000d")), Text: "best lamp?", SetID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000e")),
		},
		Platform: platform, Model: "m", Sample: int64(n + 1), Surface: event.SurfaceAPI,
		AnsweredAt: event.At(at), Attempts: 1, Finish: event.FinishComplete, Text: "Lumen is good.",
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// replay replays all that there is.
func (w *world) replay(t *testing.T, want deadletters.Summary) (refused []deadletters.Refusal) {
	t.Helper()
	r := deadletters.New(w.conn, w.log, w.prefix)
	got, err := r.Replay(t.Context(), clickhouse.DeadLetterFilter{}, func(f deadletters.Refusal) { refused = append(refused, f) }, func(int) {})
	if err != nil || got != want {
		t.Errorf("Replay() = %+v, %v; want %+v", got, err, want)
	}
	return refused
}

func (w *world) lines(t *testing.T) (all []deadletters.Line) {
	t.Helper()
	err := deadletters.Each(t.Context(), w.conn, clickhouse.DeadLetterFilter{}, func(l deadletters.Line) error {
		all = append(all, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// On each partition an earlier build could not read an answer, and one record is garbage. The answers are appended to the
// partitions on which they were, once; the garbage becomes a dead letter again as often as it is replayed.
func TestDeadLettersAreReplayedOnce(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newWorld(t, brokers)
		for partition := range 2 {
			records := []producer.Record{{Value: answer(t, 0+partition, "openai")}, {Value: answer(t, 0+partition, "openai")}, {Value: answer(t, 4+partition, "openai")}}
			if partition == 1 {
				records = append(records, producer.Record{Value: []byte("\xffgarbage"), Headers: []producer.Header{{Key: "from", Value: []byte("afar")}}})
			}
			if _, err := w.log.AppendTo(t.Context(), event.TopicAnswers, partition, records); err != nil {
				t.Fatal(err)
			}
			letter := clickhouse.DeadLetter{LogTopic: w.prefix + "answers", LogPartition: int32(partition), LogOffset: 1, AppendedAt: day, Key: "k", Value: string(answer(t, 2+partition, "newer")), Reason: "malformed"}
			if err := clickhouse.DeadLetters.Insert(t.Context(), w.conn, fmt.Sprint(partition), []clickhouse.DeadLetter{letter}); err != nil {
				t.Fatal(err)
			}
		}
		w.until(t, 4, "SELECT count() FROM answers")
		w.until(t, 3, "SELECT count() FROM deadletters")

		w.replay(t, deadletters.Summary{Replayed: 3})
		w.until(t, 6, "SELECT count() FROM answers")
		w.until(t, 4, "SELECT count() FROM deadletters")
		w.replay(t, deadletters.Summary{Replayed: 1, Skipped: 3})
		w.until(t, 5, "SELECT count() FROM deadletters")
		w.until(t, 2, "SELECT uniqExact(log_partition) FROM answers WHERE platform = 'newer' AND log_offset > 2")

		// as after a crash between the append and the marks
		for partition := range 2 {
			if _, err := w.log.AppendTo(t.Context(), event.TopicAnswers, partition, []producer.Record{{Value: answer(t, 2+partition, "newer")}, {Value: answer(t, 8+partition, "openai")}}); err != nil {
				t.Fatal(err)
			}
		}
		w.until(t, 8, "SELECT count() FROM answers")
		w.until(t, 8, "SELECT uniqExact(id) FROM answers")
		w.until(t, 8, "SELECT toUInt64(sum(answers)) FROM answer_daily")
		w.until(t, 8, "SELECT toUInt64(sum(answers)) FROM entity_prompt_daily")

		var told []string
		for _, l := range w.lines(t) {
			told = append(told, fmt.Sprintf("%d %s replayed %v", l.Partition, l.Reason, !l.ReplayedAt.IsZero()))
			whole, err := clickhouse.WholeDeadLetters(t.Context(), w.conn, l.Topic, l.Partition, []int64{l.Offset})
			if err != nil || len(whole) != 1 || whole[0].Key == "" && (whole[0].Value != "\xffgarbage" || !slices.Equal(whole[0].HeaderValues, []string{"afar"})) {
				t.Errorf("%s: %+v, %v", l.LogPosition, whole, err)
			}
		}
		if want := []string{"0 malformed replayed true", "1 malformed replayed true", "1 malformed replayed true", "1 malformed replayed true", "1 malformed replayed false"}; !slices.Equal(told, want) {
			t.Errorf("dead letters %q, want %q", told, want)
		}
	})
}

// A letter of another installation's topic is no record for this log.
func TestALetterOfAnotherLogIsNotReplayed(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	for n, topic := range []string{"other.answers", w.prefix + "news"} {
		letter := clickhouse.DeadLetter{LogTopic: topic, AppendedAt: day, Value: "{}", Reason: "malformed"}
		if err := clickhouse.DeadLetters.Insert(t.Context(), w.conn, fmt.Sprint(n), []clickhouse.DeadLetter{letter}); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range w.replay(t, deadletters.Summary{Refused: 2}) {
		if !strings.Contains(f.Reason, "of another log") {
			t.Errorf("refused %+v", f)
		}
	}
}
