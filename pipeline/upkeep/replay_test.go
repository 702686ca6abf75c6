package upkeep_test

import (
	"fmt"
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
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// replayingEnvironment is a log with a sink that runs as long as the test.
type replayingEnvironment struct {
	conn   *clickhouse.Conn
	log    *producer.Producer
	prefix string
}

func newReplaying(t *testing.T) *replayingEnvironment {
	t.Helper()
	t.Parallel()
	e := &replayingEnvironment{prefix: testkit.Prefix(t), conn: store.OpenWarehouse(t, store.Warehouse(t))}
	brokers := testkit.Kafka(t)
	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix, topics.Partitions = brokers, e.prefix, 2
	if _, err := producer.CreateTopics(t.Context(), topics); err != nil {
		t.Fatal(err)
	}
	cfg := producer.DefaultConfig()
	cfg.Brokers, cfg.Prefix = brokers, e.prefix
	var err error
	if e.log, err = producer.New(cfg, testkit.Log(t), prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	reading := consume.DefaultConfig()
	reading.Brokers, reading.Group, reading.Topic = brokers, e.prefix+"sink", e.prefix+event.TopicAnswers
	consumer, err := consume.New(reading, sink.NewAnswers(e.conn, prometheus.NewRegistry(), testkit.Log(t)),
		prometheus.NewRegistry(), testkit.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(testkit.Start(t, e.log.Run))
	t.Cleanup(testkit.Start(t, consumer.Run))
	return e
}

// wait waits until the result of a question is a number.
func (e *replayingEnvironment) wait(t *testing.T, want uint64, question string) {
	t.Helper()
	wait.For(t, fmt.Sprintf("%s to be %d", question, want), func() bool {
		var n uint64
		if err := e.conn.QueryRow(t.Context(), question).Scan(&n); err != nil {
			t.Fatal(question, err)
		}
		return n == want
	})
}

// answer is the n-th answer on a platform.
func answer(t *testing.T, n int, platform string) []byte {
	t.Helper()
	at := day.Add(time.Duration(n) * time.Minute)
	brand := uuid.Must(uuid.FromString("01890000-0000-7000-8000-000000000001"))
	value, err := event.EncodeAnswer(nil, &event.Answer{
		V:              event.Version,
		ID:             event.RunID(event.Identity{BrandID: brand, Platform: platform, Sample: int64(n + 1), Due: at}),
		OrganizationID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000a")),
		Brand: event.Brand{
			Entity: event.Entity{ID: brand, Name: "Lumen", Domains: []string{"lumen.example"}}, Revision: 1,
		},
		Prompt: event.Prompt{
			ID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000d")), Text: "best lamp?",
			SetID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000e")),
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
func (e *replayingEnvironment) replay(t *testing.T, want upkeep.ReplaySummary) (refused []upkeep.ReplayRefusal) {
	t.Helper()
	r := upkeep.NewReplayer(e.conn, e.log, e.prefix)
	got, err := r.Replay(t.Context(), clickhouse.DeadLetterFilter{}, func(f upkeep.ReplayRefusal) {
		refused = append(refused, f)
	}, func(int) {})
	if err != nil || got != want {
		t.Errorf("Replay() = %+v, %v; want %+v", got, err, want)
	}
	return refused
}

func (e *replayingEnvironment) lines(t *testing.T) (all []upkeep.DeadLetter) {
	t.Helper()
	err := upkeep.EachDeadLetter(t.Context(), e.conn, clickhouse.DeadLetterFilter{}, func(l upkeep.DeadLetter) error {
		all = append(all, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// On each partition an earlier build could not read an answer, and one record is garbage. The answers are appended to
// the partitions on which they were, once; the garbage becomes a dead letter again as often as it is replayed.
func TestDeadLettersAreReplayedOnce(t *testing.T) {
	e := newReplaying(t)
	for partition := range 2 {
		records := []producer.Record{
			{Value: answer(t, 0+partition, "openai")}, {Value: answer(t, 0+partition, "openai")},
			{Value: answer(t, 4+partition, "openai")},
		}
		if partition == 1 {
			records = append(records, producer.Record{
				Value: []byte("\xffgarbage"), Headers: []producer.Header{{Key: "from", Value: []byte("afar")}},
			})
		}
		if _, err := e.log.AppendTo(t.Context(), event.TopicAnswers, partition, records); err != nil {
			t.Fatal(err)
		}
		letter := clickhouse.DeadLetter{
			LogTopic: e.prefix + "answers", LogPartition: int32(partition), LogOffset: 1, AppendedAt: day, Key: "k",
			Value: string(answer(t, 2+partition, "newer")), Reason: "malformed",
		}
		if err := clickhouse.DeadLetters.Insert(t.Context(), e.conn, fmt.Sprint(partition),
			[]clickhouse.DeadLetter{letter}); err != nil {
			t.Fatal(err)
		}
	}
	e.wait(t, 4, "SELECT count() FROM answers")
	e.wait(t, 3, "SELECT count() FROM deadletters")

	e.replay(t, upkeep.ReplaySummary{Replayed: 3})
	e.wait(t, 6, "SELECT count() FROM answers")
	e.wait(t, 4, "SELECT count() FROM deadletters")
	e.replay(t, upkeep.ReplaySummary{Replayed: 1, Skipped: 3})
	e.wait(t, 5, "SELECT count() FROM deadletters")
	e.wait(t, 2, "SELECT uniqExact(log_partition) FROM answers WHERE platform = 'newer' AND log_offset > 2")

	// as after a crash between the append and the marks
	for partition := range 2 {
		if _, err := e.log.AppendTo(t.Context(), event.TopicAnswers, partition,
			[]producer.Record{
				{Value: answer(t, 2+partition, "newer")}, {Value: answer(t, 8+partition, "openai")},
			}); err != nil {
			t.Fatal(err)
		}
	}
	e.wait(t, 8, "SELECT count() FROM answers")
	e.wait(t, 8, "SELECT uniqExact(id) FROM answers")
	e.wait(t, 8, "SELECT toUInt64(sum(answers)) FROM answer_daily")
	e.wait(t, 8, "SELECT toUInt64(sum(answers)) FROM entity_prompt_daily")

	var states []string
	for _, l := range e.lines(t) {
		states = append(states, fmt.Sprintf("%d %s replayed %v", l.Partition, l.Reason, !l.ReplayedAt.IsZero()))
		letters, err := clickhouse.DeadLettersAt(t.Context(), e.conn, l.Topic, l.Partition, []int64{l.Offset})
		if err != nil || len(letters) != 1 ||
			letters[0].Key == "" &&
				(letters[0].Value != "\xffgarbage" || !slices.Equal(letters[0].HeaderValues, []string{"afar"})) {
			t.Errorf("%s: %+v, %v", l.LogPosition, letters, err)
		}
	}
	if want := []string{
		"0 malformed replayed true", "1 malformed replayed true", "1 malformed replayed true",
		"1 malformed replayed true", "1 malformed replayed false",
	}; !slices.Equal(states, want) {
		t.Errorf("dead letters %q, want %q", states, want)
	}
}

// A dead letter of another installation's topic is refused.
func TestALetterOfAnotherLogIsNotReplayed(t *testing.T) {
	e := newReplaying(t)
	for n, topic := range []string{"other.answers", e.prefix + "news"} {
		letter := clickhouse.DeadLetter{LogTopic: topic, AppendedAt: day, Value: "{}", Reason: "malformed"}
		if err := clickhouse.DeadLetters.Insert(t.Context(), e.conn, fmt.Sprint(n),
			[]clickhouse.DeadLetter{letter}); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range e.replay(t, upkeep.ReplaySummary{Refused: 2}) {
		if !strings.Contains(f.Reason, "of another log") {
			t.Errorf("refused %+v", f)
		}
	}
}
