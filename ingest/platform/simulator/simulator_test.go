package simulator

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

var today = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

func open(t testing.TB, shopping bool) *Simulator {
	t.Helper()
	s, err := New(Config{Seed: 7, Shopping: shopping, Cast: Cast{
		Brand:       event.Entity{Name: "Fernwood", Aliases: []string{"Fernwood Outdoor"}, Domains: []string{"fernwood.example"}},
		Competitors: []event.Entity{{Name: "Altrek", Domains: []string{"altrek.example"}}, {Name: "Vandrå"}, {Name: "Kestrel & Co"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	for _, shopping := range []bool{false, true} {
		s := open(t, shopping)
		platformtest.Conform(t, s, platform.Question{Text: "best tent?", Region: "us", Language: "en", Model: Models[0], Sample: 1, Due: today})
	}
}

// An answer in any language begins with the label that it is simulated, and its names stand alone.
func TestEveryLanguageBeginsWithTheLabel(t *testing.T) {
	s := open(t, false)
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

func TestInvalidQuestionsAreRefused(t *testing.T) {
	s := open(t, false)
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
func TestRetrySucceeds(t *testing.T) {
	s := open(t, false)
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
