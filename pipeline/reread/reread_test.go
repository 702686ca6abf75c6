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
	"github.com/answerscope/answerscope/pipeline/reread"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A competitor added today has a history: of given-up runs and shopping answers too.
func TestACompetitorAddedTodayHasAHistory(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newWorld(t, brokers)
		defer w.sink(t)()
		w.tell(t, w.snapshot(t, w.brand.ID), 0, 50)
		w.landed(t, 50)
		w.wantHistory(t, w.brand.ID, 50, "Glow")

		w.compete(t, w.brand.ID, "Blaze")
		defer w.in(t, w.rereader(t, w.config()).Run)()
		s := w.done(t, w.brand.ID)
		if s.Done != 50 || s.Total != 50 || s.LeftOver != 0 || s.LastError != "" {
			t.Errorf("%+v", s)
		}
		w.wantHistory(t, w.brand.ID, 50, "Glow", "Blaze")
		if n := w.number(t, "SELECT count() FROM answers"); n != 150 {
			t.Errorf("%d rows, want each answer's first and one correction of two", n)
		}
	})
}

// records are what is on the log of a brand.
func (w *world) records(t *testing.T, least int) []event.Answer {
	t.Helper()
	key := event.AnswerKey(w.brand.ID)
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: w.brokers, Topic: w.prefix + event.TopicAnswers, Partition: producer.Partition(key, []int{0, 1}), MaxWait: 50 * time.Millisecond})
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

// What is told again is what was told, but for the names, after a correction too.
func TestARereadIsTheAnswerAsItWasTold(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	defer w.sink(t)()
	w.tell(t, w.snapshot(t, w.brand.ID), 0, 10)
	w.landed(t, 10)
	defer w.in(t, w.rereader(t, w.config()).Run)()
	for _, name := range []string{"Blaze", "Torch"} {
		w.compete(t, w.brand.ID, name)
		until(t, "it is taken up", func() bool { return w.state(t, w.brand.ID).State != "waiting" })
		w.done(t, w.brand.ID)
	}
	told := w.records(t, 30)
	for i, again := range told[20:] {
		n := int(again.Sample - 1)
		want := answer(w.snapshot(t, w.brand.ID), n)
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
func (w *world) appended(t *testing.T) (n int64) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(w.brokers...)}
	topic := w.prefix + event.TopicAnswers
	ends, err := client.ListOffsets(t.Context(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: {kafka.LastOffsetOf(0), kafka.LastOffsetOf(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ends.Topics[topic] {
		n += p.LastOffset
	}
	return n
}

// While live answers lag, rereads add no more than one page to what is to be landed.
func TestNoPageFollowsOneThatHasNotLanded(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	stop := w.sink(t)
	w.tell(t, w.snapshot(t, w.brand.ID), 0, 50)
	w.landed(t, 50)
	stop()
	w.compete(t, w.brand.ID, "Blaze")
	defer w.in(t, w.rereader(t, w.config()).Run)()
	until(t, "a page is appended", func() bool { return w.appended(t) == 60 })
	w.tell(t, w.snapshot(t, w.brand.ID), 50, 60) // live traffic
	quietFor(t, time.Second, func() bool { return w.appended(t) == 70 })
	defer w.sink(t)()
	w.done(t, w.brand.ID)
	w.landed(t, 60)
	w.wantHistory(t, w.brand.ID, 60, "Glow", "Blaze")
}

// quietFor watches for a while that a condition holds.
func quietFor(t *testing.T, d time.Duration, holds func() bool) {
	t.Helper()
	bound := time.NewTimer(d)
	tick := time.NewTicker(20 * time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	for {
		if !holds() {
			t.Fatal("it does not hold")
		}
		select {
		case <-tick.C:
		case <-bound.C:
			return
		}
	}
}

// A process that is killed with a page under way leaves it to another one, which tells
// it again; the page counts once. The one that was only slow finds that it lost it.
func TestAnotherProcessGoesOnAfterAKill(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	stop := w.sink(t)
	w.tell(t, w.snapshot(t, w.brand.ID), 0, 50)
	w.landed(t, 50)
	stop()
	w.compete(t, w.brand.ID, "Blaze")
	defer w.in(t, w.rereader(t, w.config()).Run)()
	until(t, "a page is appended", func() bool { return w.appended(t) == 60 })
	w.edit(t, "UPDATE private.rereads SET held_until = clock_timestamp() - interval '1 s', holder = gen_random_uuid()")
	heir := w.rereader(t, w.config())
	defer w.in(t, heir.Run)()
	until(t, "the heir tells the page again", func() bool { return w.appended(t) == 70 })
	defer w.sink(t)()
	w.done(t, w.brand.ID)
	w.wantHistory(t, w.brand.ID, 50, "Glow", "Blaze")
	if n := w.number(t, "SELECT count() FROM answers"); n != 150 {
		t.Errorf("%d rows, want 150", n)
	}
}

// Processes at once share the brands, and none is read twice.
func TestTwoProcessesShareTheBrands(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	defer w.sink(t)()
	brands := []string{"Lumen", "Lumen B", "Lumen C", "Lumen D"}
	ids := map[string]bool{}
	for i, name := range brands {
		b := w.brand
		if i > 0 {
			b = w.add(t, name)
		}
		w.tell(t, w.snapshot(t, b.ID), 0, 30)
		ids[b.ID.String()] = true
	}
	w.landed(t, 120)
	for range 2 {
		defer w.in(t, w.rereader(t, w.config()).Run)()
	}
	all, err := w.control.RequestRereads(t.Context(), nil, nil, postgres.Days{})
	if err != nil || all != 4 {
		t.Fatalf("asked for %d, %v", all, err)
	}
	w.edit(t, "INSERT INTO public.competitors (brand_id, name) SELECT id, 'Blaze' FROM public.brands")
	w.hurry(t)
	until(t, "all are read again", func() bool {
		states, err := w.control.Rereads(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range states {
			if s.State != "done" {
				return false
			}
		}
		return w.number(t, "SELECT count() FROM answers") == 360
	})
	if n := w.number(t, "SELECT countIf(s != 1) FROM (SELECT id, sum(sign) AS s FROM answers GROUP BY id)"); n != 0 {
		t.Errorf("%d answers do not stand once", n)
	}
}

// An edit while the answers are read again begins them anew, and the last names win.
func TestAnEditDuringARereadWins(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	stop := w.sink(t)
	w.tell(t, w.snapshot(t, w.brand.ID), 0, 50)
	w.landed(t, 50)
	stop()
	w.compete(t, w.brand.ID, "Blaze")
	defer w.in(t, w.rereader(t, w.config()).Run)()
	until(t, "a page is appended", func() bool { return w.appended(t) == 60 })
	w.edit(t, "DELETE FROM public.competitors WHERE name = 'Glow'")
	w.hurry(t)
	defer w.sink(t)()
	until(t, "it is taken up anew", func() bool { return w.state(t, w.brand.ID).State != "waiting" })
	w.done(t, w.brand.ID)
	w.wantHistory(t, w.brand.ID, 50, "Blaze")
}

// Answers that were under way with the earlier names are found by the sweep; what
// nothing is to be done for is left alone.
func TestTheSweepFindsWhatWasInFlight(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	defer w.sink(t)()
	before := w.snapshot(t, w.brand.ID)
	w.tell(t, before, 0, 20)
	w.landed(t, 20)
	r := w.rereader(t, w.config())
	defer w.in(t, r.Run)()
	w.compete(t, w.brand.ID, "Blaze")
	w.done(t, w.brand.ID)
	w.edit(t, "UPDATE private.rereads SET due_at = NULL") // no late look
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := w.state(t, w.brand.ID); s.State != "done" || s.DueAt != nil {
		t.Errorf("nothing is older, and yet %+v", s)
	}
	w.tell(t, before, 20, 30)
	w.landed(t, 30)
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the sweep's run has ended", func() bool { s := w.state(t, w.brand.ID); return s.State == "done" && s.DueAt == nil && s.Done == 10 })
	w.wantHistory(t, w.brand.ID, 30, "Glow", "Blaze")
}

// What cannot be told again is said, and keeps nothing else from it.
func TestWhatCannotBeToldAgainIsLeft(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	defer w.sink(t)()
	w.tell(t, w.snapshot(t, w.brand.ID), 0, 20)
	w.landed(t, 20)
	// a row as no producer of this release makes it
	if err := w.kept.Exec(t.Context(), "INSERT INTO answers (organization_id, brand_id, day, id, sign, revision, extract_version, answered_at, platform, prompt_id, prompt_text, sample) "+
		"SELECT organization_id, brand_id, day, generateUUIDv7(), 1, 1, 1, answered_at, 'No Slug', prompt_id, '', 1 FROM answers WHERE sample = 1"); err != nil {
		t.Fatal(err)
	}
	w.compete(t, w.brand.ID, "Blaze")
	defer w.in(t, w.rereader(t, w.config()).Run)()
	s := w.done(t, w.brand.ID)
	if s.State != "incomplete" || s.LeftOver != 1 || s.Done != 20 || !strings.Contains(s.LastError, "1 answers stand as they were") {
		t.Errorf("%+v", s)
	}
}

// A page that does not land holds up nobody for ever, and is not told twice while its
// partition is behind. What lands late was not left over.
func TestAPageThatDoesNotLandIsLeftForAWhile(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	stop := w.sink(t)
	w.tell(t, w.snapshot(t, w.brand.ID), 0, 20)
	w.landed(t, 20)
	stop()
	w.compete(t, w.brand.ID, "Blaze")
	cfg := w.config()
	cfg.Still, cfg.Rest = 200*time.Millisecond, 50*time.Millisecond
	defer w.in(t, w.rereader(t, cfg).Run)()
	until(t, "it says that nothing lands", func() bool {
		return strings.Contains(w.state(t, w.brand.ID).LastError, "its answers do not land")
	})
	quietFor(t, time.Second, func() bool { return w.appended(t) == 30 })
	defer w.sink(t)()
	s := w.done(t, w.brand.ID)
	if s.State != "done" || s.LeftOver != 0 || s.Done != 20 || s.Total != 20 || s.LastError != "" {
		t.Errorf("%+v", s)
	}
	w.wantHistory(t, w.brand.ID, 20, "Glow", "Blaze")
}

// A partition that stands still holds up no brand of another one, and those of its own
// are left at once, until it lands again.
func TestAPartitionThatStandsStillHoldsUpNoOther(t *testing.T) {
	testkit.Brokers(t, func(t *testing.T, brokers []string, _ string) {
		w := newWorld(t, brokers)
		on := map[int][]uuid.UUID{}
		for n := 0; len(on[0]) < 2 || len(on[1]) < 1; n++ {
			b := w.add(t, fmt.Sprint("Lumen ", n))
			w.edit(t, "UPDATE public.brands SET name = 'Lumen' WHERE id = $1", b.ID)
			p := producer.Partition(event.AnswerKey(b.ID), []int{0, 1})
			on[p] = append(on[p], b.ID)
		}
		brands := []uuid.UUID{on[0][0], on[0][1], on[1][0]}
		stop := w.sink(t)
		for _, b := range brands {
			w.tell(t, w.snapshot(t, b), 0, 20)
		}
		w.landed(t, 60)
		stop()
		for _, b := range brands {
			w.compete(t, b, "Blaze")
		}
		stop = w.sink(t, 0)
		cfg := w.config()
		cfg.Still, cfg.Rest = time.Second, 100*time.Millisecond
		defer w.in(t, w.rereader(t, cfg).Run)()
		w.done(t, brands[2])
		w.wantHistory(t, brands[2], 20, "Glow", "Blaze")
		for _, b := range brands[:2] {
			until(t, "it says that nothing lands", func() bool { return strings.Contains(w.state(t, b).LastError, "its answers do not land") })
		}
		quietFor(t, time.Second, func() bool { return w.appended(t) == 60+20+10 }) // one page for both
		stop()
		defer w.sink(t)()
		for _, b := range brands[:2] {
			if s := w.done(t, b); s.LeftOver != 0 || s.LastError != "" {
				t.Errorf("%+v", s)
			}
			w.wantHistory(t, b, 20, "Glow", "Blaze")
		}
	})
}

// A brand that is deleted meanwhile is let go.
func TestADeletedBrandIsLetGo(t *testing.T) {
	w := newWorld(t, testkit.Kafka(t))
	stop := w.sink(t)
	w.tell(t, w.snapshot(t, w.brand.ID), 0, 20)
	w.landed(t, 20)
	stop()
	w.compete(t, w.brand.ID, "Blaze")
	cfg := w.config()
	cfg.Lease, cfg.Silence = time.Second, 500*time.Millisecond
	defer w.in(t, w.rereader(t, cfg).Run)()
	until(t, "a page is appended", func() bool { return w.appended(t) == 30 })
	w.edit(t, "DELETE FROM public.brands WHERE id = $1", w.brand.ID)
	other := w.add(t, "Glim")
	if n, err := w.control.RequestRereads(t.Context(), nil, nil, postgres.Days{}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	w.done(t, other.ID)
}

func TestConfigIsValidated(t *testing.T) {
	if err := (reread.Config{}).Validate(); err == nil || strings.Count(err.Error(), "\n") < 6 {
		t.Errorf("an empty config: %v, want all that is wrong", err)
	}
	cfg := reread.DefaultConfig()
	cfg.Brokers, cfg.Group, cfg.Topic = []string{"localhost:9092"}, "sink", "answers"
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}
