package reread_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/reread"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A new competitor has figures of earlier answers, of given-up runs and shopping answers too.
func TestANewCompetitorHasAHistory(t *testing.T) {
	brokers := testkit.Kafka(t)
	e := newEnvironment(t, brokers)
	defer e.sink(t)()
	e.append(t, e.snapshot(t, e.brand.ID), 0, 50)
	e.inserted(t, 50)
	e.wantHistory(t, e.brand.ID, 50, "Glow")

	e.addCompetitor(t, e.brand.ID, "Blaze")
	defer testkit.Start(t, e.rereader(t, e.config()).Run)()
	s := e.done(t, e.brand.ID)
	if s.Done != 50 || s.Total != 50 || s.LeftOver != 0 || s.LastError != "" {
		t.Errorf("%+v", s)
	}
	e.wantHistory(t, e.brand.ID, 50, "Glow", "Blaze")
	if n := e.number(t, "SELECT count() FROM answers"); n != 150 {
		t.Errorf("%d rows, want each answer's first and one correction of two", n)
	}
}

// records are those on the log of a brand.
func (e *environment) records(t *testing.T, least int) []event.Answer {
	t.Helper()
	key := event.BrandKey(e.brand.ID)
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: e.brokers, Topic: e.prefix + event.TopicAnswers, Partition: producer.Partition(key, 2),
		MaxWait: 50 * time.Millisecond,
	})
	defer reader.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all []event.Answer
	for len(all) < least {
		m, err := reader.ReadMessage(ctx)
		if err != nil {
			t.Fatalf("after %d records: %v", len(all), err)
		}
		var a event.Answer
		if err := event.DecodeAnswer(m.Value, &a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// A reread is the answer as it was appended first, but for the names; after a correction too.
func TestARereadIsTheAnswerAsItWasAppended(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	defer e.sink(t)()
	e.append(t, e.snapshot(t, e.brand.ID), 0, 10)
	e.inserted(t, 10)
	defer testkit.Start(t, e.rereader(t, e.config()).Run)()
	for _, name := range []string{"Blaze", "Torch"} {
		e.addCompetitor(t, e.brand.ID, name)
		wait.For(t, "the run to begin", func() bool { return e.state(t, e.brand.ID).State != "waiting" })
		e.done(t, e.brand.ID)
	}
	all := e.records(t, 30)
	for i, again := range all[20:] {
		n := int(again.Sample - 1)
		want := answer(e.snapshot(t, e.brand.ID), n)
		want.Reread = &event.Reread{MinExtractVersion: reread.DefaultConfig().ExtractVersion}
		got, wanted := encoded(t, &again), encoded(t, want)
		if got != wanted {
			t.Errorf("record %d of answer %d:\n%s\nwant\n%s", 20+i, n, got, wanted)
		}
	}
}

func encoded(t *testing.T, a *event.Answer) string {
	t.Helper()
	b, err := event.EncodeAnswer(nil, a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// appended is how many records are on the log.
func (e *environment) appended(t *testing.T) (n int64) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(e.brokers...)}
	topic := e.prefix + event.TopicAnswers
	ends, err := client.ListOffsets(t.Context(),
		&kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {kafka.LastOffsetOf(0),
			kafka.LastOffsetOf(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ends.Topics[topic] {
		n += p.LastOffset
	}
	return n
}

// While live answers lag, rereads add no more than one page to the backlog.
func TestNoPageFollowsOneThatIsNotInserted(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	stop := e.sink(t)
	e.append(t, e.snapshot(t, e.brand.ID), 0, 50)
	e.inserted(t, 50)
	stop()
	e.addCompetitor(t, e.brand.ID, "Blaze")
	defer testkit.Start(t, e.rereader(t, e.config()).Run)()
	wait.For(t, "a page to be appended", func() bool { return e.appended(t) == 60 })
	e.append(t, e.snapshot(t, e.brand.ID), 50, 60) // live traffic
	e.stays(t, 70)
	defer e.sink(t)()
	e.done(t, e.brand.ID)
	e.inserted(t, 60)
	e.wantHistory(t, e.brand.ID, 60, "Glow", "Blaze")
}

// stays checks for a second that so many records are on the log, and no more.
func (e *environment) stays(t *testing.T, records int64) {
	t.Helper()
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if n := e.appended(t); n != records {
			t.Fatalf("%d records are on the log, want %d", n, records)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// Another process appends the page of a killed one again, and the page counts once. A process that was only slow finds
// that it lost the brand.
func TestAnotherProcessGoesOnAfterAKill(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	stop := e.sink(t)
	e.append(t, e.snapshot(t, e.brand.ID), 0, 50)
	e.inserted(t, 50)
	stop()
	e.addCompetitor(t, e.brand.ID, "Blaze")
	defer testkit.Start(t, e.rereader(t, e.config()).Run)()
	wait.For(t, "a page to be appended", func() bool { return e.appended(t) == 60 })
	e.edit(t, "UPDATE private.rereads SET held_until = clock_timestamp() - interval '1 s', holder = gen_random_uuid()")
	successor := e.rereader(t, e.config())
	defer testkit.Start(t, successor.Run)()
	wait.For(t, "the other process to append the page again", func() bool { return e.appended(t) == 70 })
	defer e.sink(t)()
	e.done(t, e.brand.ID)
	e.wantHistory(t, e.brand.ID, 50, "Glow", "Blaze")
	if n := e.number(t, "SELECT count() FROM answers"); n != 150 {
		t.Errorf("%d rows, want 150", n)
	}
}

// Two processes share the brands, and none is reread twice.
func TestTwoProcessesShareTheBrands(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	defer e.sink(t)()
	brands := []string{"Lumen", "Lumen B", "Lumen C", "Lumen D"}
	ids := map[string]bool{}
	for i, name := range brands {
		b := e.brand
		if i > 0 {
			b = e.add(t, name)
		}
		e.append(t, e.snapshot(t, b.ID), 0, 30)
		ids[b.ID.String()] = true
	}
	e.inserted(t, 120)
	for range 2 {
		defer testkit.Start(t, e.rereader(t, e.config()).Run)()
	}
	all, err := e.control.RequestRereads(t.Context(), nil, nil, postgres.Days{})
	if err != nil || all != 4 {
		t.Fatalf("asked for %d, %v", all, err)
	}
	e.edit(t, "INSERT INTO public.competitors (brand_id, name) SELECT id, 'Blaze' FROM public.brands")
	e.makeDue(t)
	wait.For(t, "all brands to be reread", func() bool {
		states, err := e.control.Rereads(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range states {
			if s.State != "done" {
				return false
			}
		}
		return e.number(t, "SELECT count() FROM answers") == 360
	})
	if n := e.number(t, "SELECT countIf(s != 1) FROM (SELECT id, sum(sign) AS s FROM answers GROUP BY id)"); n != 0 {
		t.Errorf("%d answers do not have one current row", n)
	}
}

// An edit during a run begins it again, and the last names win.
func TestAnEditDuringARereadWins(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	stop := e.sink(t)
	e.append(t, e.snapshot(t, e.brand.ID), 0, 50)
	e.inserted(t, 50)
	stop()
	e.addCompetitor(t, e.brand.ID, "Blaze")
	defer testkit.Start(t, e.rereader(t, e.config()).Run)()
	wait.For(t, "a page to be appended", func() bool { return e.appended(t) == 60 })
	e.edit(t, "DELETE FROM public.competitors WHERE name = 'Glow'")
	e.makeDue(t)
	defer e.sink(t)()
	wait.For(t, "the run to begin again", func() bool { return e.state(t, e.brand.ID).State != "waiting" })
	e.done(t, e.brand.ID)
	e.wantHistory(t, e.brand.ID, 50, "Blaze")
}

// The sweep finds answers that were under way with the earlier names, and queues no brand without any.
func TestTheSweepFindsAnswersThatWereUnderWay(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	defer e.sink(t)()
	before := e.snapshot(t, e.brand.ID)
	e.append(t, before, 0, 20)
	e.inserted(t, 20)
	r := e.rereader(t, e.config())
	defer testkit.Start(t, r.Run)()
	e.addCompetitor(t, e.brand.ID, "Blaze")
	e.done(t, e.brand.ID)
	e.edit(t, "UPDATE private.rereads SET due_at = NULL") // no follow-up
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := e.state(t, e.brand.ID); s.State != "done" || s.DueAt != nil {
		t.Errorf("no answer is outdated, and yet %+v", s)
	}
	e.append(t, before, 20, 30)
	e.inserted(t, 30)
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.For(t, "the run of the sweep to end", func() bool {
		s := e.state(t, e.brand.ID)
		return s.State == "done" && s.DueAt == nil && s.Done == 10
	})
	e.wantHistory(t, e.brand.ID, 30, "Glow", "Blaze")
}

// An answer that cannot be appended is reported, and all others are reread.
func TestAnAnswerThatCannotBeAppendedIsLeft(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	defer e.sink(t)()
	e.append(t, e.snapshot(t, e.brand.ID), 0, 20)
	e.inserted(t, 20)
	// a row as no producer of this release makes it
	if err := e.warehouse.Exec(t.Context(), "INSERT INTO answers (organization_id, brand_id, day, id, sign, "+
		"revision, extract_version, answered_at, platform, prompt_id, prompt_text, sample) "+
		"SELECT organization_id, brand_id, day, generateUUIDv7(), 1, 1, 1, answered_at, 'No Slug', prompt_id, '', "+
		"1 FROM answers WHERE sample = 1"); err != nil {
		t.Fatal(err)
	}
	e.addCompetitor(t, e.brand.ID, "Blaze")
	defer testkit.Start(t, e.rereader(t, e.config()).Run)()
	s := e.done(t, e.brand.ID)
	if s.State != "incomplete" || s.LeftOver != 1 || s.Done != 20 ||
		!strings.Contains(s.LastError, "1 answers keep their older reading") {
		t.Errorf("%+v", s)
	}
}

// A page that is not inserted in time is left, and not appended twice while its partition makes no progress. Answers
// that are inserted later do not count as left over.
func TestAPageThatIsNotInsertedIsLeftForAWhile(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	stop := e.sink(t)
	e.append(t, e.snapshot(t, e.brand.ID), 0, 20)
	e.inserted(t, 20)
	stop()
	e.addCompetitor(t, e.brand.ID, "Blaze")
	cfg := e.config()
	cfg.StallTimeout, cfg.StallPause = 200*time.Millisecond, 50*time.Millisecond
	defer testkit.Start(t, e.rereader(t, cfg).Run)()
	wait.For(t, "the reason that nothing is inserted", func() bool {
		return strings.Contains(e.state(t, e.brand.ID).LastError, "its answers are not inserted")
	})
	e.stays(t, 30)
	defer e.sink(t)()
	s := e.done(t, e.brand.ID)
	if s.State != "done" || s.LeftOver != 0 || s.Done != 20 || s.Total != 20 || s.LastError != "" {
		t.Errorf("%+v", s)
	}
	e.wantHistory(t, e.brand.ID, 20, "Glow", "Blaze")
}

// A stalled partition delays no brand of another one. Its own brands are left at once, until it makes progress.
func TestAStalledPartitionDelaysNoOther(t *testing.T) {
	brokers := testkit.Kafka(t)
	e := newEnvironment(t, brokers)
	on := map[int][]uuid.UUID{}
	for n := 0; len(on[0]) < 2 || len(on[1]) < 1; n++ {
		b := e.add(t, fmt.Sprint("Lumen ", n))
		e.edit(t, "UPDATE public.brands SET name = 'Lumen' WHERE id = $1", b.ID)
		p := producer.Partition(event.BrandKey(b.ID), 2)
		on[p] = append(on[p], b.ID)
	}
	brands := []uuid.UUID{on[0][0], on[0][1], on[1][0]}
	stop := e.sink(t)
	for _, b := range brands {
		e.append(t, e.snapshot(t, b), 0, 20)
	}
	e.inserted(t, 60)
	stop()
	for _, b := range brands {
		e.addCompetitor(t, b, "Blaze")
	}
	stop = e.sink(t, 0)
	cfg := e.config()
	cfg.StallTimeout, cfg.StallPause = time.Second, 100*time.Millisecond
	defer testkit.Start(t, e.rereader(t, cfg).Run)()
	e.done(t, brands[2])
	e.wantHistory(t, brands[2], 20, "Glow", "Blaze")
	for _, b := range brands[:2] {
		wait.For(t, "the reason that nothing is inserted", func() bool {
			return strings.Contains(e.state(t, b).LastError, "its answers are not inserted")
		})
	}
	e.stays(t, 60+20+10) // one page for both
	stop()
	defer e.sink(t)()
	for _, b := range brands[:2] {
		if s := e.done(t, b); s.LeftOver != 0 || s.LastError != "" {
			t.Errorf("%+v", s)
		}
		e.wantHistory(t, b, 20, "Glow", "Blaze")
	}
}

// A brand that is deleted during its run is released.
func TestADeletedBrandIsReleased(t *testing.T) {
	e := newEnvironment(t, testkit.Kafka(t))
	stop := e.sink(t)
	e.append(t, e.snapshot(t, e.brand.ID), 0, 20)
	e.inserted(t, 20)
	stop()
	e.addCompetitor(t, e.brand.ID, "Blaze")
	cfg := e.config()
	cfg.Lease, cfg.Timeout = time.Second, 500*time.Millisecond
	defer testkit.Start(t, e.rereader(t, cfg).Run)()
	wait.For(t, "a page to be appended", func() bool { return e.appended(t) == 30 })
	e.edit(t, "DELETE FROM public.brands WHERE id = $1", e.brand.ID)
	other := e.add(t, "Glim")
	if n, err := e.control.RequestRereads(t.Context(), nil, nil, postgres.Days{}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	e.done(t, other.ID)
}

func TestConfigIsValidated(t *testing.T) {
	if err := (reread.Config{}).Validate(); err == nil || strings.Count(err.Error(), "\n") < 2 {
		t.Errorf("an empty config: %v, want all that is wrong", err)
	}
	cfg := reread.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = []string{"localhost:9092"}, "sink", "answers"
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}
