package sink_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// eachOnce are questions of every table that a record feeds; answers with a
// competitor named, a citation and a card count 1 in each.
var eachOnce = map[string]string{
	"answers":             "SELECT count() FROM answers",
	"distinct answers":    "SELECT uniqExact(id) FROM answers",
	"answer_daily":        "SELECT toUInt64(sum(answers)) FROM answer_daily",
	"entity_prompt_daily": "SELECT toUInt64(sum(answers)) FROM entity_prompt_daily",
	"brand_prompt_daily":  "SELECT toUInt64(sum(answers)) FROM brand_prompt_daily",
	"of competitors":      "SELECT toUInt64(sum(mention_answers)) FROM entity_prompt_daily WHERE entity_id != brand_id",
	"citations":           "SELECT count() FROM citations",
	"citation_daily":      "SELECT toUInt64(sum(citations)) FROM citation_daily",
	"shopping_cards":      "SELECT uniqExact(id) FROM shopping_cards",
	"all shopping_cards":  "SELECT count() FROM shopping_cards",
}

func (w *environment) wantEachOnce(t *testing.T, want uint64) {
	t.Helper()
	w.wantNumbers(t, want, eachOnce)
}

// wantEachOnceOf is wantEachOnce of one brand.
func (w *environment) wantEachOnceOf(t *testing.T, want uint64, brand uuid.UUID) {
	t.Helper()
	questions := map[string]string{}
	for name, question := range eachOnce {
		if !strings.Contains(question, " WHERE ") {
			question += " WHERE true"
		}
		questions[name] = fmt.Sprintf("%s AND brand_id = '%s'", question, brand)
	}
	w.wantNumbers(t, want, questions)
}

var day = time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)

// answer is the n-th answer of a brand.
func answer(n int) *event.Answer {
	brand := uuid.Must(uuid.FromString("01890000-0000-7000-8000-000000000001"))
	at := day.AddDate(0, n%3, n%20)
	return &event.Answer{
		V: event.Version,
		ID: event.RunID(event.Identity{BrandID: brand, PromptText: "best lamp?", Platform: "openai",
			Model: "m", Sample: int64(n + 1), Due: at}),
		OrganizationID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000a")),
		Brand: event.Brand{Entity: event.Entity{ID: brand, Name: "Lumen", Domains: []string{"lumen.example"}},
			Revision: 1},
		Competitors: []event.Entity{{ID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000c")),
			Name: "Glow", Domains: []string{"glow.example"}}},
		Prompt: event.Prompt{
			ID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000d")), Text: "best lamp?",
			SetID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000e")),
		},
		Platform: "openai", Model: "m", Sample: int64(n + 1), Surface: event.SurfaceAPI,
		AnsweredAt: event.At(at), Attempts: 1, Finish: event.FinishComplete,
		Text:      "Lumen is good. Glow is brighter.",
		Citations: []event.Citation{{URL: "https://lumen.example/a", Cited: true}},
		Products:  []event.Product{{Title: "Lumen One", PriceAmount: "12.50", PriceCurrency: "EUR"}},
	}
}

func encoded(t *testing.T, a *event.Answer) []byte {
	t.Helper()
	b, err := event.EncodeAnswer(nil, a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func answers(t *testing.T, from, to int) [][]byte {
	t.Helper()
	var all [][]byte
	for n := from; n < to; n++ {
		all = append(all, encoded(t, answer(n)))
	}
	return all
}

func (w *environment) sink(t *testing.T) *sink.Answers {
	return w.sinkWith(t, prometheus.NewRegistry())
}

func (w *environment) sinkWith(t *testing.T, registry *prometheus.Registry) *sink.Answers {
	return sink.NewAnswers(w.conn, registry, testkit.Log(t))
}

var (
	small = consume.Limits{Records: 7, Bytes: 1 << 20, Linger: 20 * time.Millisecond}
	large = consume.Limits{Records: 1000, Bytes: 1 << 20, Linger: 20 * time.Millisecond}
	full  = consume.Limits{Records: 7, Bytes: 1 << 20, Linger: time.Minute} // small, but cut by records alone
)

// landed reports whether everything up to an offset of partition 0 has landed.
func (w *environment) landed(offset int64) func(*consume.Consumer[sink.Answer]) bool {
	return func(*consume.Consumer[sink.Answer]) bool { return w.hasLanded(0, offset) }
}

func TestEachAnswerOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.append(t, answers(t, 0, 20)...)
	w.append(t, answers(t, 15, 25)...) // five of them again
	w.consume(t, w.sink(t), small, w.landed(29))
	w.wantEachOnce(t, 25)
	w.append(t, answers(t, 20, 30)...)
	w.consume(t, w.sink(t), small, w.landed(39))
	w.wantEachOnce(t, 30)
}

// crashing fails at one step of one batch, as a killed process does.
type crashing[T any] struct {
	consume.Target[T]
	batch   int32 // counts down to the batch
	after   bool  // the rows were sent
	crashed chan struct{}
}

var errCrash = errors.New("crash")

func (c *crashing[T]) hasCrashed(*consume.Consumer[T]) bool {
	select {
	case <-c.crashed:
		return true
	default:
		return false
	}
}

func (c *crashing[T]) Insert(ctx context.Context, b *consume.Batch[T], checkOwnership func() error) error {
	if atomic.AddInt32(&c.batch, -1) > 0 {
		return c.Target.Insert(ctx, b, checkOwnership)
	}
	if atomic.LoadInt32(&c.batch) == 0 {
		if c.after {
			if err := c.Target.Insert(ctx, b, checkOwnership); err != nil {
				return err
			}
		}
		close(c.crashed)
	}
	return errCrash
}

// A consumer that ends between its plan and its insert, or between its insert and its commit, leaves a plan. Its
// successor has other limits and meets more records, and must still land the planned batch, once.
func TestACrashedBatchIsReplayedAsItWasPlanned(t *testing.T) {
	t.Parallel()
	replayed := func(t *testing.T, brokers []string, after bool) {
		t.Parallel()
		w := newEnvironment(t, brokers, 1)
		w.append(t, answers(t, 0, 25)...)
		c := &crashing[sink.Answer]{Target: w.sink(t), batch: 3, after: after, crashed: make(chan struct{})}
		w.consume(t, c, full, c.hasCrashed)
		w.wantOpen(t, 2*int64(full.Records))
		w.append(t, answers(t, 15, 30)...)
		w.consume(t, w.sink(t), large, w.landed(39))
		w.wantEachOnce(t, 30)
		w.wantOpen(t)
	}
	t.Run("kafka, before the insert", func(t *testing.T) { replayed(t, testkit.Kafka(t), false) })
	if testkit.All {
		t.Run("kafka, after the insert", func(t *testing.T) { replayed(t, testkit.Kafka(t), true) })
	}
	t.Run("apache, after the insert", func(t *testing.T) { replayed(t, testkit.ApacheKafka(t), true) })
}

// wantOpen checks where the open batches of partition 0 begin, of a group without members.
func (w *environment) wantOpen(t *testing.T, want ...int64) {
	t.Helper()
	positions, err := consume.OpenBatches(t.Context(), producer.Connection{Brokers: w.brokers}, w.group, w.topic)
	var first []int64
	for _, p := range positions {
		first = append(first, p.Committed)
	}
	if err != nil || !slices.Equal(first, want) {
		t.Errorf("open batches begin at %v, %v; want %v", first, err, want)
	}
	if open := w.open(t); !slices.Equal(open, want) {
		t.Errorf("planned batches begin at %v; want %v", open, want)
	}
}

// While a group has members, which batches are open changes at once: OpenBatches is an error. A topic that does not
// exist, and a group that never did, have none.
func TestOpenBatchesAreOfAGroupWithoutMembers(t *testing.T) {
	t.Parallel()
	brokers := testkit.ApacheKafka(t)
	w := newEnvironment(t, brokers, 1)
	w.wantOpen(t)
	w.append(t, answers(t, 0, 3)...)
	w.consume(t, w.sink(t), small, func(c *consume.Consumer[sink.Answer]) bool {
		if c.Ready(t.Context()) != nil {
			return false
		}
		// It asks for as long as a killed consumer stays a member, 15 s; then the error says what it found.
		open, err := consume.OpenBatches(t.Context(), producer.Connection{Brokers: brokers}, w.group, w.topic)
		if err == nil || !strings.Contains(err.Error(), w.group+" has 1 members") {
			t.Errorf("open beside a consumer: %v, %v", open, err)
		}
		if _, err := consume.Positions(t.Context(), producer.Connection{Brokers: brokers}, w.group,
			w.topic); err != nil {
			t.Errorf("positions beside a consumer: %v", err)
		}
		return true
	})
	if open, err := consume.OpenBatches(t.Context(), producer.Connection{Brokers: brokers}, w.group,
		w.topic+"-none"); open != nil || err != nil {
		t.Errorf("of a topic that does not exist: %v, %v", open, err)
	}
}

// A malformed record is kept with its reason; its neighbours are counted.
func TestAMalformedRecordBecomesADeadLetter(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.append(t, encoded(t, answer(0)), []byte(`{"v":1,"id":"no"}`), []byte("\xff"), encoded(t, answer(1)))
	w.consume(t, w.sink(t), small, w.landed(3))
	w.wantEachOnce(t, 2)
	if n := w.number(t, "SELECT count() FROM deadletters WHERE reason = 'malformed' AND log_offset IN (1, 2) AND "+
		"value IN ('{\"v\":1,\"id\":\"no\"}', '\\xff')"); n != 2 {
		t.Errorf("%d dead letters, want 2", n)
	}
}

// A record of a newer version stays on the log: the records before it land, and readiness names the partition and the
// reason.
func TestARecordOfANewerVersionStopsThePartition(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	newer := strings.Replace(string(encoded(t, answer(1))), `"v":1`, `"v":99`, 1)
	w.append(t, encoded(t, answer(0)), []byte(newer), encoded(t, answer(2)))
	w.consume(t, w.sink(t), small, func(c *consume.Consumer[sink.Answer]) bool {
		err := c.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "/0 stopped: offset 1") &&
			strings.Contains(err.Error(), "99") &&
			w.number(t, "SELECT count() FROM answers") == 1
	})
	w.wantEachOnce(t, 1)
}

// A broker whose disk was emptied numbers its records anew: under old offsets they would be dropped as replays.
func TestAReplacedLogStopsThePartition(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.append(t, answers(t, 0, 5)...)
	w.consume(t, w.sink(t), small, w.landed(4))
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	if _, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{w.topic}}); err != nil {
		t.Fatal(err)
	}
	created, err := client.CreateTopics(t.Context(),
		&kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: w.topic, NumPartitions: 1,
			ReplicationFactor: 1}}})
	if err != nil || created.Errors[w.topic] != nil {
		t.Fatal(err, created.Errors)
	}
	w.append(t, answers(t, 10, 12)...)
	w.consume(t, w.sink(t), small, func(c *consume.Consumer[sink.Answer]) bool {
		err := c.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "log was replaced")
	})
}

// A member joins and leaves while records come: partitions change hands in the middle of a batch, and each record lands
// once.
func TestTwoConsumersShareTheWork(t *testing.T) {
	t.Parallel()
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newEnvironment(t, brokers, 2)
		first, second := &reading{Target: w.sink(t)}, &reading{Target: w.sink(t)}
		w.appendTo(t, 0, answers(t, 0, 10)...)
		w.appendTo(t, 1, answers(t, 10, 20)...)
		appended := 40
		w.consume(t, first, small, func(*consume.Consumer[sink.Answer]) bool {
			if first.landed.Load() < 7 {
				return false
			}
			w.appendTo(t, 0, answers(t, 20, 30)...)
			w.appendTo(t, 1, answers(t, 30, 40)...)
			w.consume(t, second, small, func(*consume.Consumer[sink.Answer]) bool {
				if second.landed.Load() > 0 {
					return true
				}
				if first.landed.Load() < int64(appended-20) {
					return false
				}
				w.appendTo(t, 0, answers(t, appended, appended+5)...) // so that the second member has some
				w.appendTo(t, 1, answers(t, appended+5, appended+10)...)
				appended += 10
				return false
			})
			wait.For(t, "the records to land", func() bool {
				return w.number(t, "SELECT uniqExact(id) FROM answers") >= uint64(appended) && len(w.open(t)) == 0
			})
			return true
		})
		w.wantEachOnce(t, uint64(appended)) // both have ended: no insert is under way
	})
}

// An answer that has landed from another partition is a duplicate.
func TestAnAnswerOfAnotherPartitionIsKnown(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 2)
	w.appendTo(t, 0, answers(t, 0, 10)...)
	w.consume(t, w.sink(t), small, w.landed(9))
	w.appendTo(t, 1, answers(t, 5, 15)...)
	w.consume(t, w.sink(t), small, func(*consume.Consumer[sink.Answer]) bool {
		return w.number(t, "SELECT uniqExact(id) FROM answers") == 15 && len(w.open(t)) == 0
	})
	w.wantEachOnce(t, 15)
}

// An operator, or a broker that lost its last commits, sets the group's offset back over landed records. Cut into other
// batches they would have other tokens and land twice: 51 of 31 in every table.
func TestAnOffsetThatWentBackStopsThePartition(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.append(t, answers(t, 0, 30)...)
	w.consume(t, w.sink(t), small, w.landed(29))
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	wait.For(t, "the group", func() bool { // the group must have no members for that
		answer, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
			GroupID: w.group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{w.topic: {{Partition: 0,
				Offset: 10}}},
		})
		return err == nil && answer.Topics[w.topic][0].Error == nil
	})
	w.append(t, answers(t, 30, 31)...)
	w.consume(t, w.sink(t), large, func(c *consume.Consumer[sink.Answer]) bool {
		err := c.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "went back to 10, but offset 29 has landed; set it to 30")
	})
	w.wantEachOnce(t, 30)
}

// panicking panics at the second record.
type panicking struct{ consume.Target[sink.Answer] }

func (p panicking) Decode(version int, r consume.Record) (sink.Answer, int, error) {
	if r.Offset == 1 {
		panic("index out of range")
	}
	return p.Target.Decode(version, r)
}

// A record that makes the code panic stops its partition, not the process.
func TestAPanicStopsThePartition(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	w.append(t, answers(t, 0, 3)...)
	w.consume(t, panicking{w.sink(t)}, small, func(c *consume.Consumer[sink.Answer]) bool {
		err := c.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), "offset 1: panic: index out of range") &&
			w.number(t, "SELECT count() FROM answers") == 1
	})
	w.wantEachOnce(t, 1)
}

// A reread that asks for a later extractor waits for a build that has it.
func TestARereadWaitsForANewerBuild(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, testkit.Kafka(t), 1)
	later := answer(0)
	later.Reread = &event.Reread{MinExtractVersion: extract.Version + 1}
	w.append(t, encoded(t, answer(0)), encoded(t, later))
	w.consume(t, w.sink(t), small, func(c *consume.Consumer[sink.Answer]) bool {
		err := c.Ready(t.Context())
		return err != nil && strings.Contains(err.Error(), fmt.Sprint("offset 1: a reread for extract version ",
			extract.Version+1)) && w.number(t, "SELECT count() FROM answers") == 1
	})
}
