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

func open(t testing.TB, slug string) *Simulator {
	t.Helper()
	s, err := New(Config{Seed: 7, Slug: slug, Cast: Cast{
		Brand: event.Entity{
			Name: "Fernwood", Aliases: []string{"Fernwood Outdoor"}, Domains: []string{"fernwood.example"},
		},
		Competitors: []event.Entity{
			{Name: "Altrek", Domains: []string{"altrek.example"}}, {Name: "Vandrå"}, {Name: "Kestrel & Co"},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	for _, slug := range []string{platform.Simulator, platform.SimulatorShopping, platform.SimulatorOverview} {
		s := open(t, slug)
		platformtest.Conform(t, s, platform.Question{
			Text: "best tent?", Region: "us", Language: "en", Model: Models[0], Sample: 1, Due: today,
		})
	}
}

// An answer in any language begins with the label that it is simulated, and its names stand alone.
func TestEveryLanguageBeginsWithTheLabel(t *testing.T) {
	s := open(t, "")
	for _, language := range []string{"en", "de", "fr", "es", "ja", "ko", "zh", "ar", "de-AT", "xx"} {
		for sample := range int64(40) {
			reply, err := s.Ask(t.Context(), platform.Question{
				Text: "a?", Language: language, Sample: sample + 1, Due: today,
			})
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
	s := open(t, "")
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
	s := open(t, "")
	classes := map[platform.Class]int{}
	for sample := range int64(6000) {
		q := platform.Question{
			Text: "best tent?", Sample: sample%3 + 1, Due: today.Add(time.Duration(sample) * time.Hour), Attempt: 1,
		}
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

// An overview is shown to a prompt on about two of three days, to every sample and model of the day alike; where it is
// not, that is an observation without text. Nobody pays for either.
func TestAnOverviewIsNotAlwaysShown(t *testing.T) {
	s := open(t, platform.SimulatorOverview)
	shown, days := 0, 300
	for day := range days {
		due := today.AddDate(0, 0, day)
		var finish event.Finish
		for sample := range int64(3) {
			q := platform.Question{
				Text: "best tent?", Model: Models[sample], Sample: sample + 1,
				Due: due.Add(time.Duration(sample) * time.Hour), Attempt: 2,
			}
			r, err := s.Ask(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if (r.Finish == event.FinishNotShown) != (r.Text == "") || r.Usage.CostUSD != "0" ||
				r.Surface != event.SurfaceConsumer || sample > 0 && r.Finish != finish {
				t.Errorf("%s, sample %d: %+v after %s", due, sample, r, finish)
			}
			finish = r.Finish
		}
		if finish == event.FinishComplete {
			shown++
		}
	}
	if shown < days*55/100 || shown > days*78/100 {
		t.Errorf("shown on %d of %d days", shown, days)
	}
}
