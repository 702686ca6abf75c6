package upkeep_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// expiringEnvironment is a warehouse with an answer, a visit and a crawl on 28 days of each month from February to May
// 2026, at the end of May.
type expiringEnvironment struct {
	cfg       upkeep.RetentionConfig
	db        *postgres.DB
	warehouse *clickhouse.Conn
	now       time.Time
}

var organization, brand = clickhouse.UUID{1}, clickhouse.UUID{2}

func newExpiring(t *testing.T) *expiringEnvironment {
	t.Helper()
	t.Parallel()
	e := &expiringEnvironment{
		cfg:       upkeep.DefaultRetention(),
		db:        store.OpenControlPlane(t, store.ControlPlane(t)),
		warehouse: store.OpenWarehouse(t, store.Warehouse(t)),
		now:       time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC),
	}
	prefix := testkit.Prefix(t)
	e.cfg.Brokers = testkit.Kafka(t)
	e.cfg.Sinks = []consume.SinkGroup{
		{Group: prefix + "sink", Topic: prefix + "answers"},
		{Group: prefix + "sink-visits", Topic: prefix + "visits"},
		{Group: prefix + "sink-crawls", Topic: prefix + "crawls"},
	}
	e.insert(t)
	return e
}

func (e *expiringEnvironment) insert(t *testing.T) {
	t.Helper()
	for month := time.February; month <= time.May; month++ {
		var answers []clickhouse.AnswerRow
		var visits []*clickhouse.VisitRow
		var crawls []clickhouse.CrawlRow
		for day := range 28 {
			at := time.Date(2026, month, day+1, 9, 0, 0, 0, time.UTC)
			id := clickhouse.UUID{3, byte(month), byte(day)}
			answers = append(answers,
				clickhouse.AnswerRow{OrganizationID: organization, BrandID: brand, ID: id, Sign: 1, Revision: 1,
					ExtractVersion: 1, LogTopic: "answers",
					LogOffset: int64(day), Day: at.Truncate(24 * time.Hour), AnsweredAt: at, Platform: "openai",
					PromptID: clickhouse.UUID{4}, MentionCount: 1, Position: 1, Text: "raw"})
			visits = append(visits,
				&clickhouse.VisitRow{
					OrganizationID: organization, BrandID: brand, ID: id, LogTopic: "visits",
					LogOffset: int64(day), At: at, Event: "view", Platform: "openai", Host: "a.example", Path: "/",
				})
			crawls = append(crawls,
				clickhouse.CrawlRow{OrganizationID: organization, BrandID: brand, ID: id, LogTopic: "crawls",
					LogOffset: int64(day), Day: at.Truncate(24 * time.Hour), At: at,
					Crawler: "GPTBot", Purpose: "training", Host: "a.example", Path: "/", Status: 200})
		}
		token := fmt.Sprint(month)
		must(t, errors.Join(
			clickhouse.Answers.Insert(t.Context(), e.warehouse, token, answers),
			clickhouse.Visits.Insert(t.Context(), e.warehouse, token, warehouse.Pack(visits...)),
			clickhouse.Crawls.Insert(t.Context(), e.warehouse, token, crawls)))
	}
}

func (e *expiringEnvironment) enforce(t *testing.T, months int) error {
	t.Helper()
	e.cfg.Months["answers"] = months
	r, err := upkeep.NewRetention(e.cfg, e.db, e.warehouse, func() time.Time {
		return e.now
	}, prometheus.NewRegistry(), testkit.Log(t))
	must(t, err)
	return r.Enforce(t.Context())
}

// wantFrom waits until a table has no row before a day, and every row from it on. A row that has expired does not come
// back, so too few rows fail the test at once.
func (e *expiringEnvironment) wantFrom(t *testing.T, table string, from time.Time) {
	t.Helper()
	want := 28 * uint64(time.May-from.Month()+1)
	wait.Until(t, func() string {
		var first time.Time
		var rows uint64
		must(t, e.warehouse.QueryRow(t.Context(), "SELECT min(day), count() FROM "+table).Scan(&first, &rows))
		if first.Equal(from) && rows == want {
			return ""
		}
		state := fmt.Sprintf("%d rows of %s from %s, want %d from %s",
			rows, table, first.Format(time.DateOnly), want, from.Format(time.DateOnly))
		if rows < want {
			t.Fatal(state)
		}
		return state
	})
}

// wantFrozen checks before which month a topic is frozen; the zero time: none is.
func (e *expiringEnvironment) wantFrozen(t *testing.T, topic string, before time.Time) {
	t.Helper()
	if frozen, err := e.db.FrozenBefore(t.Context(), topic); err != nil || !frozen.Equal(before) {
		t.Errorf("%s frozen before %v, %v; want %v", topic, frozen, err, before)
	}
}

// figures gives the rows of a question about all months.
func figures[P, R any](t *testing.T, e *expiringEnvironment, question clickhouse.Source[P, R], filter P) any {
	t.Helper()
	rows, err := question.All(t.Context(), e.warehouse, filter)
	must(t, err)
	if len(rows) == 0 {
		t.Fatal("no figures")
	}
	return rows
}

func (e *expiringEnvironment) answerFigures(t *testing.T) any {
	t.Helper()
	months := clickhouse.Filter{
		OrganizationID: organization, BrandID: brand, DateFrom: "2026-02-01", DateTo: "2026-05-31",
	}
	return figures(t, e, clickhouse.EntityVisibility, clickhouse.GroupFilter{Filter: months})
}

var traffic = clickhouse.TrafficFilter{
	OrganizationID: organization, BrandID: brand, DateFrom: "2026-02-01", DateTo: "2026-05-31",
}

// wantSame checks that figures did not change.
func wantSame(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the figures were %+v and are %+v", want, got)
	}
}

func month(m time.Month) time.Time { return time.Date(2026, m, 1, 0, 0, 0, 0, time.UTC) }

// Raw answers of two months beside the current one are kept. Older ones are frozen, then expire, and their figures
// stay. Visits are not affected, and a longer retention later brings nothing back.
func TestMonthsAreFrozenAndExpire(t *testing.T) {
	e := newExpiring(t)
	before := e.answerFigures(t)
	must(t, e.enforce(t, 0))
	e.wantFrozen(t, event.TopicAnswers, time.Time{})
	for _, c := range []struct {
		now    time.Time
		months int
		from   time.Time
	}{
		{e.now, 2, month(time.March)},
		{e.now.AddDate(0, 0, 1), 2, month(time.April)},
		{e.now.AddDate(0, 0, 1), 60, month(time.April)},
		{e.now.AddDate(0, 0, 1), 0, month(time.April)},
	} {
		e.now = c.now
		must(t, e.enforce(t, c.months))
		e.wantFrom(t, "answers", c.from)
		e.wantFrozen(t, event.TopicAnswers, c.from)
	}
	e.wantFrom(t, "visits", month(time.February))
	wantSame(t, e.answerFigures(t), before)
	e.insert(t) // replays: the tokens of expired rows are still known
	e.wantFrom(t, "answers", month(time.April))
	wantSame(t, e.answerFigures(t), before)
}

// deadLettersByDay are dead letters with the day by which they expire.
const deadLettersByDay = "(SELECT toDate(appended_at) AS day FROM deadletters)"

// insertDeadLetters inserts a dead letter for each day of the expiringEnvironment.
func (e *expiringEnvironment) insertDeadLetters(t *testing.T) {
	t.Helper()
	for month := time.February; month <= time.May; month++ {
		var deadLetters []clickhouse.DeadLetter
		for day := range 28 {
			deadLetters = append(deadLetters,
				clickhouse.DeadLetter{LogTopic: event.TopicAnswers, LogOffset: 1000*int64(month) + int64(day),
					AppendedAt: time.Date(2026, month, day+1, 9, 0, 0, 0, time.UTC), Reason: "malformed"})
		}
		must(t, clickhouse.DeadLetters.Insert(t.Context(), e.warehouse, fmt.Sprint(month), deadLetters))
	}
}

// Visits have a retention of their own and are frozen as answers are. Dead letters, which have no figures, only expire.
// Neither affects answers or figures.
func TestVisitsAndDeadLettersExpireByTheirOwnMonths(t *testing.T) {
	e := newExpiring(t)
	e.insertDeadLetters(t)
	visitFigures := func() any { return figures(t, e, clickhouse.AITraffic, traffic) }
	answers, views := e.answerFigures(t), visitFigures()
	june := e.now.AddDate(0, 0, 1)
	for _, c := range []struct {
		now                         time.Time
		visits, deadLetters         int
		visitsFrom, deadLettersFrom time.Time
	}{
		{e.now, 2, 0, month(time.March), month(time.February)},
		{e.now, 0, 1, month(time.March), month(time.April)},
		{june, 2, 1, month(time.April), month(time.May)},
		{june, 60, 60, month(time.April), month(time.May)},
		{june, 0, 0, month(time.April), month(time.May)},
	} {
		e.now, e.cfg.Months["visits"], e.cfg.DeadLetters = c.now, c.visits, c.deadLetters
		must(t, e.enforce(t, 0))
		e.wantFrom(t, "visits", c.visitsFrom)
		e.wantFrom(t, deadLettersByDay, c.deadLettersFrom)
		e.wantFrozen(t, event.TopicVisits, c.visitsFrom)
	}
	e.insert(t) // replays
	e.insertDeadLetters(t)
	e.wantFrom(t, "visits", month(time.April))
	e.wantFrom(t, deadLettersByDay, month(time.May))
	e.wantFrom(t, "answers", month(time.February))
	e.wantFrozen(t, event.TopicAnswers, time.Time{})
	wantSame(t, e.answerFigures(t), answers)
	wantSame(t, visitFigures(), views)
}

// Crawls have a retention of their own too, and their figures stay.
func TestCrawlsExpireByTheirOwnMonths(t *testing.T) {
	e := newExpiring(t)
	crawlFigures := func() any { return figures(t, e, clickhouse.AICrawlers, traffic) }
	before := crawlFigures()
	e.cfg.Months["crawls"] = 2
	must(t, e.enforce(t, 0))
	e.wantFrom(t, "crawls", month(time.March))
	e.wantFrozen(t, event.TopicCrawls, month(time.March))
	e.insert(t) // replays
	e.wantFrom(t, "crawls", month(time.March))
	e.wantFrom(t, "visits", month(time.February))
	wantSame(t, crawlFigures(), before)
}

// A batch under way keeps visits from being frozen, and no dead letter from expiring.
func TestDeadLettersExpireBesideABatch(t *testing.T) {
	e := newExpiring(t)
	e.insertDeadLetters(t)
	e.cfg.SetLockTimeout(200 * time.Millisecond)
	e.cfg.Months["visits"], e.cfg.DeadLetters = 1, 2
	hold, err := e.db.LockSinksShared(t.Context(), 0)
	must(t, err)
	defer hold.Release()
	if err := e.enforce(t, 0); !errors.Is(err, postgres.ErrSinksBusy) {
		t.Errorf("visits were frozen beside a batch: %v", err)
	}
	e.wantFrom(t, deadLettersByDay, month(time.March))
	e.wantFrom(t, "visits", month(time.February))
}

// A machine whose clock is ten years ahead freezes only what is also past by the clock of Postgres.
func TestAFastClockFreezesNothing(t *testing.T) {
	e := newExpiring(t)
	database, err := e.db.Now(t.Context())
	must(t, err)
	e.now = database.AddDate(10, 0, 0)
	const months = 119 // by this clock everything would be past, by that of Postgres nothing
	must(t, e.enforce(t, months))
	e.wantFrozen(t, event.TopicAnswers, time.Time{})
	e.wantFrom(t, "answers", month(time.February))
}

// While a batch is under way, or planned by a process that was killed, nothing is frozen, so nothing expires.
func TestNothingIsFrozenBesideABatch(t *testing.T) {
	e := newExpiring(t)
	e.cfg.SetLockTimeout(200 * time.Millisecond)
	hold, err := e.db.LockSinksShared(t.Context(), 0)
	must(t, err)
	refused := func(why string) {
		t.Helper()
		if err := e.enforce(t, 1); !errors.Is(err, postgres.ErrSinksBusy) && !errors.Is(err, consume.ErrPlanned) {
			t.Errorf("%s: %v", why, err)
		}
		e.wantFrozen(t, event.TopicAnswers, time.Time{})
		e.wantFrom(t, "answers", month(time.February))
	}
	refused("a batch is under way")
	if err := e.enforce(t, 1200); err != nil {
		t.Errorf("a hundred years are kept, and yet the sinks were stopped: %v", err)
	}
	hold.Release()

	sink := e.cfg.Sinks[0]
	testkit.CreateTopic(t, e.cfg.Brokers, sink.Topic)
	client := &kafka.Client{Addr: kafka.TCP(e.cfg.Brokers...)}
	commit := func(offset int64, metadata string) {
		t.Helper()
		answer, err := client.OffsetCommit(t.Context(),
			&kafka.OffsetCommitRequest{GroupID: sink.Group, GenerationID: -1,
				Topics: map[string][]kafka.OffsetCommit{sink.Topic: {{Partition: 0, Offset: offset,
					Metadata: metadata}}}})
		must(t, err)
		must(t, answer.Topics[sink.Topic][0].Error)
	}
	commit(0, `{"last":3,"shard":0,"extract_version":1}`)
	refused("a batch is planned")
	commit(4, "")
	must(t, e.enforce(t, 1))
	e.wantFrom(t, "answers", month(time.April))
}

// A suspect month is reconciled before it is frozen, since a frozen month never is.
func TestASuspectMonthIsNotFrozen(t *testing.T) {
	e := newExpiring(t)
	must(t, clickhouse.MarkRecords(t.Context(), e.warehouse,
		[]clickhouse.RecordMark{{LogPosition: clickhouse.LogPosition{Topic: "answers", Offset: 99},
			Mark: clickhouse.MarkSuspect, Landing: "answers", Month: 202603}}))
	must(t, e.enforce(t, 2)) // February
	if err := e.enforce(t, 1); err == nil ||
		!strings.Contains(err.Error(),
			"freeze month 2026-03 of answers: not reconciled since the repeated batch at answers/0@99") {
		t.Errorf("March: %v", err)
	}
	e.wantFrozen(t, event.TopicAnswers, month(time.March))
	suspects, err := clickhouse.Suspects(t.Context(), e.warehouse)
	must(t, errors.Join(err, clickhouse.ClearSuspects(t.Context(), e.warehouse, suspects)))
	must(t, e.enforce(t, 1))
	e.wantFrom(t, "answers", month(time.April))
}

func TestConfigSaysAllThatIsWrong(t *testing.T) {
	cfg := upkeep.DefaultRetention()
	cfg.Months["answers"], cfg.DeadLetters = -1, -2
	err := cfg.Validate()
	for _, want := range []string{"retention of answers -1", "retention of dead letters -2", "retention sinks"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q in it", err, want)
		}
	}
}
