package simulator

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
	"github.com/gofrs/uuid/v5"
)

var today = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

func demoCast() Cast {
	id := func(n byte) (id uuid.UUID) { id[15] = n; return id }
	spec := DemoBrand()
	cast := Cast{Brand: event.Entity{ID: id(1), Name: spec.Name, Aliases: spec.Aliases, Domains: spec.Domains}}
	for i, c := range spec.Competitors {
		cast.Competitors = append(cast.Competitors, event.Entity{ID: id(byte(2 + i)), Name: c.Name, Aliases: c.Aliases, Domains: c.Domains})
	}
	return cast
}

func demo(t testing.TB, shopping bool) (*Simulator, Plan) {
	t.Helper()
	cast := demoCast()
	s, err := New(Config{Seed: 7, Shopping: shopping, Cast: cast})
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{
		Snapshot: answer.Snapshot{OrganizationID: uuid.UUID{9}, Brand: event.Brand{Entity: cast.Brand, Revision: 1}, Competitors: cast.Competitors},
		Models:   Models, From: today.AddDate(0, 0, -59), Until: today,
	}
	for i, p := range DemoPrompts() {
		plan.Prompts = append(plan.Prompts, Asked{
			Prompt: event.Prompt{ID: uuid.UUID{1, byte(i)}, Text: p.Text, SetID: uuid.UUID{2}},
			Region: p.Region, Language: p.Language, Samples: p.Samples,
		})
	}
	return s, plan
}

func TestConformance(t *testing.T) {
	for _, shopping := range []bool{false, true} {
		s, _ := demo(t, shopping)
		platformtest.Conform(t, s, platform.Question{Text: "best tent?", Region: "us", Language: "en", Model: Models[0], Sample: 1, Due: today})
	}
}

// Every language must say that the answer is simulated before it says anything
// else, and say names so that they stand alone.
func TestEveryLanguageSaysThatItIsSimulated(t *testing.T) {
	s, _ := demo(t, false)
	for _, language := range []string{"en", "de", "fr", "es", "ja", "ko", "zh", "ar", "de-AT", "xx"} {
		for sample := range int64(40) {
			reply, err := s.Ask(t.Context(), platform.Question{Text: "a?", Language: language, Sample: sample + 1, Due: today})
			if err != nil {
				continue
			}
			label := s.language(language)["label"][0]
			if !strings.HasPrefix(reply.Text, label) {
				t.Fatalf("%s: %.80q", language, reply.Text)
			}
			if strings.ContainsAny(reply.Text, "{}") {
				t.Errorf("%s: something was not filled in: %s", language, reply.Text)
			}
			if len(reply.Text) < 400 || len(reply.Text) > 4500 {
				t.Errorf("%s: %d bytes", language, len(reply.Text))
			}
		}
	}
}

func TestHistoryRepeatsItself(t *testing.T) {
	s, plan := demo(t, false)
	ids := map[uuid.UUID]event.Answer{}
	for a := range s.History(plan) {
		if _, twice := ids[a.ID]; twice {
			t.Fatalf("%s %s twice", a.Prompt.Text, a.AnsweredAt)
		}
		ids[a.ID] = a
		if err := a.Check(today); err != nil {
			t.Fatal(err)
		}
		if !a.Simulated || a.AnsweredAt.After(today) {
			t.Fatalf("%+v", a)
		}
	}
	if len(ids) < 6000 || len(ids) > plan.Runs() {
		t.Errorf("%d records, at most %d", len(ids), plan.Runs())
	}

	// Two days later, from another simulator: the days in common are the same.
	later, plan := demo(t, false)
	plan.From, plan.Until = plan.From.AddDate(0, 0, 2), plan.Until.AddDate(0, 0, 2)
	common := 0
	for a := range later.History(plan) {
		if before, there := ids[a.ID]; there {
			common++
			if !reflect.DeepEqual(a, before) {
				t.Fatalf("got  %+v\nwant %+v", a, before)
			}
		}
	}
	if common < len(ids)*9/10 {
		t.Errorf("%d of %d in common", common, len(ids))
	}
}

// The demo must have something to show: a trend that moves, an outage, a renewed model, every language and source.
func TestHistoryHasAShape(t *testing.T) {
	s, plan := demo(t, false)
	type week struct{ answers, named int }
	weeks := map[int]*week{}
	served, classes, failedDays := map[string]bool{}, map[string]int{}, map[string]int{}
	for a := range s.History(plan) {
		if a.GivenUp != nil {
			classes[a.GivenUp.Class]++
			failedDays[a.Model+a.AnsweredAt.Format(time.DateOnly)]++
			continue
		}
		served[a.ServedModel] = true
		_, n := a.AnsweredAt.ISOWeek()
		if weeks[n] == nil {
			weeks[n] = &week{}
		}
		weeks[n].answers++
		if strings.Contains(a.Text, "Fernwood") {
			weeks[n].named++
		}
	}
	low, high := 1.0, 0.0
	for _, w := range weeks {
		share := float64(w.named) / float64(w.answers)
		low, high = math.Min(low, share), math.Max(high, share)
	}
	if high-low < 0.1 || low < 0.1 || high > 0.95 {
		t.Errorf("weekly share of answers that name the brand from %.2f to %.2f", low, high)
	}
	if len(served) != 2*len(Models) {
		t.Errorf("served models %v: want each renewed once", served)
	}
	worst := 0
	for _, n := range failedDays {
		worst = max(worst, n)
	}
	if classes["unavailable"] < 20 || classes["rate_limited"] == 0 || worst < 15 {
		t.Errorf("failures %v, worst day %d", classes, worst)
	}
	t.Logf("weekly share %.2f–%.2f, failures %v", low, high, classes)
}

func TestShoppingHasCards(t *testing.T) {
	s, plan := demo(t, true)
	plan.From = today.AddDate(0, 0, -6)
	cards, own := 0, 0
	for a := range s.History(plan) {
		if a.Platform != platform.SimulatorShopping || a.GivenUp == nil && len(a.Products) < 3 {
			t.Fatalf("%+v", a)
		}
		for _, p := range a.Products {
			cards++
			if p.Brand == "Fernwood" {
				own++
			}
		}
		if err := a.Check(today); err != nil {
			t.Fatal(err)
		}
	}
	if own == 0 || own == cards {
		t.Errorf("%d of %d cards are the brand's", own, cards)
	}
}

func TestQuestionsThatMeanNothingAreInvalid(t *testing.T) {
	s, _ := demo(t, false)
	for _, q := range []platform.Question{
		{Sample: 1, Due: today}, {Text: "a?", Sample: 0, Due: today}, {Text: "a?", Sample: 1, Model: "gpt", Due: today},
	} {
		_, err := s.Ask(t.Context(), q)
		failure, ok := errors.AsType[*platform.Error](err)
		if !ok || failure.Class != platform.Invalid {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := New(DefaultConfig()); err == nil {
		t.Error("a simulator without a brand")
	}
}

// Every failure is of a class that is asked again, and has passed at the second attempt.
func TestARetryHeals(t *testing.T) {
	s, _ := demo(t, false)
	classes := map[platform.Class]int{}
	for sample := range int64(6000) {
		q := platform.Question{Text: "best tent?", Sample: sample%3 + 1, Due: today.Add(time.Duration(sample) * time.Hour), Attempt: 1}
		_, err := s.Ask(t.Context(), q)
		failure, failed := errors.AsType[*platform.Error](err)
		if !failed {
			continue
		}
		classes[failure.Class]++
		q.Attempt = 2
		if _, err = s.Ask(t.Context(), q); !failure.Class.Retryable() || err != nil {
			t.Errorf("%v, then %v", failure, err)
		}
	}
	if len(classes) != 3 {
		t.Errorf("failures %v, want some of each class that is asked again", classes)
	}
}
