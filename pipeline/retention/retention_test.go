package retention_test

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/retention"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// world is a warehouse with an answer, a visit and a crawl a day from February to May 2026, at the end of May.
type world struct {
	cfg       retention.Config
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       time.Time
}

var organization, brand = clickhouse.UUID{1}, clickhouse.UUID{2}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{cfg: retention.DefaultConfig(), now: time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)}
	prefix := testkit.Prefix(t)
	w.cfg.Brokers = testkit.Kafka(t)
	w.cfg.Sinks = []retention.Sink{{Group: prefix + "sink", Topic: prefix + "answers"}, {Group: prefix + "sink-visits", Topic: prefix + "visits"}, {Group: prefix + "sink-crawls", Topic: prefix + "crawls"}}
	w.db = store.OpenControlPlane(t, store.ControlPlane(t))
	w.warehouse = store.OpenWarehouse(t, store.Warehouse(t))
	w.land(t)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) land(t *testing.T) {
	t.Helper()
	for month := time.February; month <= time.May; month++ {
		var answers []clickhouse.AnswerRow
		var visits []*clickhouse.VisitRow
		var crawls []clickhouse.CrawlRow
		for day := range 28 {
			at := time.Date(2026, month, day+1, 9, 0, 0, 0, time.UTC)
			id := clickhouse.UUID{3, byte(month), byte(day)}
			answers = append(answers, clickhouse.AnswerRow{OrganizationID: organization, BrandID: brand, ID: id, Sign: 1, Revision: 1, ExtractVersion: 1, LogTopic: "answers",
				LogOffset: int64(day), Day: at.Truncate(24 * time.Hour), AnsweredAt: at, Platform: "openai", PromptID: clickhouse.UUID{4}, MentionCount: 1, Position: 1, Text: "raw"})
			visits = append(visits, &clickhouse.VisitRow{OrganizationID: organization, BrandID: brand, ID: id, LogTopic: "visits", LogOffset: int64(day), At: at, Event: "view", Platform: "openai", Host: "a.example", Path: "/"})
			crawls = append(crawls, clickhouse.CrawlRow{OrganizationID: organization, BrandID: brand, ID: id, LogTopic: "crawls", LogOffset: int64(day), Day: at.Truncate(24 * time.Hour), At: at,
				Crawler: "GPTBot", Purpose: "training", Host: "a.example", Path: "/", Status: 200})
		}
		token := fmt.Sprint(month)
		must(t, errors.Join(
			clickhouse.Answers.Insert(t.Context(), w.warehouse, token, answers),
			clickhouse.Visits.Insert(t.Context(), w.warehouse, token, clickhouse.PackVisits(visits...)),
			clickhouse.Crawls.Insert(t.Context(), w.warehouse, token, crawls)))
	}
}

func (w *world) enforce(t *testing.T, months int) error {
	t.Helper()
	w.cfg.Answers = months
	r, err := retention.New(w.cfg, w.db, w.warehouse, func() time.Time { return w.now }, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
	return r.Enforce(t.Context())
}

// kept waits until a table has nothing before a day any more, and wants the rest of it.
func (w *world) kept(t *testing.T, table string, from time.Time) {
	t.Helper()
	bound, tick := time.NewTimer(60*time.Second), time.NewTicker(50*time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for {
		var first time.Time
		var rows uint64
		must(t, w.warehouse.QueryRow(t.Context(), "SELECT min(day), count() FROM "+table).Scan(&first, &rows))
		if months := uint64(time.May - from.Month() + 1); first.Equal(from) && rows == 28*months {
			return
		}
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatalf("%d rows of %s are kept, the first of %v; want those from %v", rows, table, first, from)
		}
	}
}

func (w *world) figures(t *testing.T) any {
	t.Helper()
	of := clickhouse.Filter{OrganizationID: organization, BrandID: brand, DateFrom: "2026-02-01", DateTo: "2026-05-31"}
	rows, err := clickhouse.EntityVisibility.All(t.Context(), w.warehouse, of)
	must(t, err)
	return rows
}

func month(m time.Month) time.Time { return time.Date(2026, m, 1, 0, 0, 0, 0, time.UTC) }

// Raw answers of two months beside the present one are kept. What is older goes, and is frozen before; its figures stay,
// visits are another matter, and asking for more later brings nothing back.
func TestMonthsAreFrozenAndGo(t *testing.T) {
	w := newWorld(t)
	before := w.figures(t)
	must(t, w.enforce(t, 0))
	if frozen, err := w.db.FrozenBefore(t.Context(), event.TopicAnswers); err != nil || !frozen.IsZero() {
		t.Errorf("for ever: frozen before %v, %v", frozen, err)
	}
	for _, c := range []struct {
		now    time.Time
		months int
		from   time.Time
	}{
		{w.now, 2, month(time.March)},
		{w.now.AddDate(0, 0, 1), 2, month(time.April)},
		{w.now.AddDate(0, 0, 1), 60, month(time.April)},
		{w.now.AddDate(0, 0, 1), 0, month(time.April)},
	} {
		w.now = c.now
		must(t, w.enforce(t, c.months))
		w.kept(t, "answers", c.from)
		if frozen, err := w.db.FrozenBefore(t.Context(), event.TopicAnswers); err != nil || !frozen.Equal(c.from) {
			t.Errorf("frozen before %v, %v; want %v", frozen, err, c.from)
		}
	}
	w.kept(t, "visits", month(time.February))
	if after := w.figures(t); !reflect.DeepEqual(after, before) {
		t.Errorf("the figures were %+v and are %+v", before, after)
	}
	w.land(t) // replays: the tokens of what has gone are known
	w.kept(t, "answers", month(time.April))
	if after := w.figures(t); !reflect.DeepEqual(after, before) {
		t.Errorf("after a replay the figures are %+v, were %+v", after, before)
	}
}

// lettersByDay are dead letters with the day by which they go.
const lettersByDay = "(SELECT toDate(appended_at) AS day FROM deadletters)"

// landLetters adds a dead letter a day of the months that the world has.
func (w *world) landLetters(t *testing.T) {
	t.Helper()
	for month := time.February; month <= time.May; month++ {
		var letters []clickhouse.DeadLetter
		for day := range 28 {
			letters = append(letters, clickhouse.DeadLetter{LogTopic: event.TopicAnswers, LogOffset: 1000*int64(month) + int64(day),
				AppendedAt: time.Date(2026, month, day+1, 9, 0, 0, 0, time.UTC), Reason: "malformed"})
		}
		must(t, clickhouse.DeadLetters.Insert(t.Context(), w.warehouse, fmt.Sprint(month), letters))
	}
}

// Visits are frozen, as answers are, by a time of their own. Dead letters, of which no figures are made, just go. Neither
// takes an answer along, nor a figure.
func TestVisitsAndDeadLettersGoByTheirOwnMonths(t *testing.T) {
	w := newWorld(t)
	w.landLetters(t)
	traffic := func() any {
		t.Helper()
		rows, err := clickhouse.AITraffic.All(t.Context(), w.warehouse, clickhouse.TrafficFilter{OrganizationID: organization, BrandID: brand, DateFrom: "2026-02-01", DateTo: "2026-05-31"})
		if err != nil || len(rows) == 0 {
			t.Fatal(rows, err)
		}
		return rows
	}
	answers, views := w.figures(t), traffic()
	june := w.now.AddDate(0, 0, 1)
	for _, c := range []struct {
		now                     time.Time
		visits, letters         int
		visitsFrom, lettersFrom time.Time
	}{
		{w.now, 2, 0, month(time.March), month(time.February)},
		{w.now, 0, 1, month(time.March), month(time.April)},
		{june, 2, 1, month(time.April), month(time.May)},
		{june, 60, 60, month(time.April), month(time.May)},
		{june, 0, 0, month(time.April), month(time.May)},
	} {
		w.now, w.cfg.Visits, w.cfg.DeadLetters = c.now, c.visits, c.letters
		must(t, w.enforce(t, 0))
		w.kept(t, "visits", c.visitsFrom)
		w.kept(t, lettersByDay, c.lettersFrom)
		if frozen, err := w.db.FrozenBefore(t.Context(), event.TopicVisits); err != nil || !frozen.Equal(c.visitsFrom) {
			t.Errorf("visits frozen before %v, %v; want %v", frozen, err, c.visitsFrom)
		}
	}
	w.land(t) // replays
	w.landLetters(t)
	w.kept(t, "visits", month(time.April))
	w.kept(t, lettersByDay, month(time.May))
	w.kept(t, "answers", month(time.February))
	if frozen, err := w.db.FrozenBefore(t.Context(), event.TopicAnswers); err != nil || !frozen.IsZero() {
		t.Errorf("answers frozen before %v, %v", frozen, err)
	}
	if now := w.figures(t); !reflect.DeepEqual(now, answers) {
		t.Errorf("the figures of answers were %+v and are %+v", answers, now)
	}
	if now := traffic(); !reflect.DeepEqual(now, views) {
		t.Errorf("the figures of visits were %+v and are %+v", views, now)
	}
}

// Crawls too are frozen by a time of their own, and leave their figures.
func TestCrawlsGoByTheirOwnMonths(t *testing.T) {
	w := newWorld(t)
	figures := func() any {
		t.Helper()
		rows, err := clickhouse.AICrawlers.All(t.Context(), w.warehouse, clickhouse.TrafficFilter{OrganizationID: organization, BrandID: brand, DateFrom: "2026-02-01", DateTo: "2026-05-31"})
		if err != nil || len(rows) == 0 {
			t.Fatal(rows, err)
		}
		return rows
	}
	before := figures()
	w.cfg.Crawls = 2
	must(t, w.enforce(t, 0))
	w.kept(t, "crawls", month(time.March))
	if frozen, err := w.db.FrozenBefore(t.Context(), event.TopicCrawls); err != nil || !frozen.Equal(month(time.March)) {
		t.Errorf("crawls frozen before %v, %v; want March", frozen, err)
	}
	w.land(t) // replays
	w.kept(t, "crawls", month(time.March))
	w.kept(t, "visits", month(time.February))
	if now := figures(); !reflect.DeepEqual(now, before) {
		t.Errorf("the figures were %+v and are %+v", before, now)
	}
}

// A batch that is under way holds visits up, and no dead letter.
func TestDeadLettersGoBesideABatch(t *testing.T) {
	w := newWorld(t)
	w.landLetters(t)
	w.cfg.Patience, w.cfg.Visits, w.cfg.DeadLetters = 200*time.Millisecond, 1, 2
	hold, err := w.db.LockSinksShared(t.Context(), 0)
	must(t, err)
	defer hold.Release()
	if err := w.enforce(t, 0); !errors.Is(err, postgres.ErrSinksBusy) {
		t.Errorf("visits were frozen beside a batch: %v", err)
	}
	w.kept(t, lettersByDay, month(time.March))
	w.kept(t, "visits", month(time.February))
}

// A machine whose clock is ten years ahead freezes what has passed by Postgres's clock, too.
func TestAClockThatIsAheadFreezesNothing(t *testing.T) {
	w := newWorld(t)
	theirs, err := w.db.Now(t.Context())
	must(t, err)
	w.now = theirs.AddDate(10, 0, 0)
	const months = 119 // kept: beside our clock all that there is would go, beside Postgres's nothing
	must(t, w.enforce(t, months))
	if frozen, err := w.db.FrozenBefore(t.Context(), event.TopicAnswers); err != nil || !frozen.IsZero() {
		t.Errorf("frozen before %v, %v", frozen, err)
	}
	w.kept(t, "answers", month(time.February))
}

// While a batch is under way, or planned by a process that died, nothing is frozen, and so nothing goes.
func TestNothingIsFrozenBesideABatch(t *testing.T) {
	w := newWorld(t)
	w.cfg.Patience = 200 * time.Millisecond
	hold, err := w.db.LockSinksShared(t.Context(), 0)
	must(t, err)
	refused := func(why string) {
		t.Helper()
		if err := w.enforce(t, 1); !errors.Is(err, postgres.ErrSinksBusy) {
			t.Errorf("%s: %v", why, err)
		}
		if frozen, err := w.db.FrozenBefore(t.Context(), event.TopicAnswers); err != nil || !frozen.IsZero() {
			t.Errorf("%s: frozen before %v, %v", why, frozen, err)
		}
		w.kept(t, "answers", month(time.February))
	}
	refused("a batch is under way")
	if err := w.enforce(t, 1200); err != nil {
		t.Errorf("a hundred years are kept, and the sinks were stopped for it: %v", err)
	}
	hold.Release()

	sink := w.cfg.Sinks[0]
	client := &kafka.Client{Addr: kafka.TCP(w.cfg.Brokers...)}
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: sink.Topic, NumPartitions: 1, ReplicationFactor: 1}}})
	must(t, errors.Join(err, made.Errors[sink.Topic]))
	commit := func(offset int64, metadata string) {
		t.Helper()
		answer, err := client.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{GroupID: sink.Group, GenerationID: -1,
			Topics: map[string][]kafka.OffsetCommit{sink.Topic: {{Partition: 0, Offset: offset, Metadata: metadata}}}})
		must(t, err)
		must(t, answer.Topics[sink.Topic][0].Error)
	}
	commit(0, `{"last":3,"shard":0,"extract_version":1}`)
	refused("a batch is planned")
	commit(4, "")
	must(t, w.enforce(t, 1))
	w.kept(t, "answers", month(time.April))
}

// ClickHouse has refused a record after some rollups took it: its month is mended before it is frozen, since after that
// nobody does.
func TestNoMonthIsFrozenBeforeItIsReconciled(t *testing.T) {
	w := newWorld(t)
	must(t, clickhouse.DeadLetters.Insert(t.Context(), w.warehouse, "refused", []clickhouse.DeadLetter{{LogTopic: "answers", LogOffset: 99, AppendedAt: w.now, Reason: "refused"}}))
	must(t, clickhouse.MarkRecords(t.Context(), w.warehouse, []clickhouse.Mark{{Topic: "answers", Offset: 99, Mark: clickhouse.MarkRefused, Landing: "answers", Month: 202603}}))
	must(t, w.enforce(t, 2)) // February
	if err := w.enforce(t, 1); err == nil || !strings.Contains(err.Error(), "freeze month 2026-03 of answers: not reconciled since record answers/0@99 was refused") {
		t.Errorf("March: %v", err)
	}
	if frozen, err := w.db.FrozenBefore(t.Context(), event.TopicAnswers); err != nil || !frozen.Equal(month(time.March)) {
		t.Errorf("frozen before %v, %v", frozen, err)
	}
	suspects, err := clickhouse.Suspects(t.Context(), w.warehouse)
	must(t, errors.Join(err, clickhouse.SettleSuspects(t.Context(), w.warehouse, suspects)))
	must(t, w.enforce(t, 1))
	w.kept(t, "answers", month(time.April))
}

func TestConfigSaysAllThatIsWrong(t *testing.T) {
	cfg := retention.DefaultConfig()
	cfg.Answers, cfg.DeadLetters = -1, -2
	err := cfg.Validate()
	for _, want := range []string{"retention of answers -1", "retention of dead letters -2", "retention sinks"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q in it", err, want)
		}
	}
}
