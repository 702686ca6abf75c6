package demo

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
)

var today = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

// cast returns the demo's brand and competitors with ids.
func cast() simulator.Cast {
	id := func(n byte) (id uuid.UUID) { id[15] = n; return id }
	spec := Brand()
	cast := simulator.Cast{Brand: event.Entity{ID: id(1), Name: spec.Name, Aliases: spec.Aliases,
		Domains: spec.Domains}}
	for i, c := range spec.Competitors {
		cast.Competitors = append(cast.Competitors, event.Entity{
			ID: id(byte(2 + i)), Name: c.Name, Aliases: c.Aliases, Domains: c.Domains,
		})
	}
	return cast
}

func topicID(name string) uuid.UUID { return uuid.NewV5(uuid.Nil, name) }

// open returns the demo's history up to an instant, and the simulator that answers it.
func open(t testing.TB, slug string, last time.Time) (*simulator.Simulator, History) {
	t.Helper()
	s, err := simulator.New(simulator.Config{Seed: 1, Slug: slug, Cast: cast(), Changes: Changes(last)})
	if err != nil {
		t.Fatal(err)
	}
	history := History{
		Snapshot: answer.Snapshot{
			OrganizationID: uuid.UUID{9}, Brand: event.Brand{Entity: cast().Brand, Revision: 1},
			Competitors: cast().Competitors,
		},
		Models: simulator.Models, Platforms: Platforms(), From: last.AddDate(0, 0, -59), Until: last,
	}
	for i, p := range Prompts() {
		topic := topicID(p.Topic)
		history.Prompts = append(history.Prompts,
			p.Tracked(event.Prompt{ID: uuid.UUID{1, byte(i)}, Text: p.Text, SetID: uuid.UUID{2}, TopicID: &topic}))
	}
	return s, history
}

func TestHistoryRepeatsItself(t *testing.T) {
	s, history := open(t, "", today)
	ids := map[uuid.UUID]event.Answer{}
	for a := range history.Answers(s) {
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
	if len(ids) < 6000 || len(ids) > history.Runs() {
		t.Errorf("%d records, at most %d", len(ids), history.Runs())
	}

	// Two days later, from another simulator: the days in common are the same.
	later, history := open(t, "", today)
	history.From, history.Until = history.From.AddDate(0, 0, 2), history.Until.AddDate(0, 0, 2)
	common := 0
	for a := range history.Answers(later) {
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

// The demo must have something to show: a trend that moves, outages, a renewed model.
func TestHistoryHasAShape(t *testing.T) {
	s, history := open(t, "", today)
	type week struct{ answers, named int }
	weeks := map[int]*week{}
	served, classes, failedDays := map[string]bool{}, map[string]int{}, map[string]int{}
	for a := range history.Answers(s) {
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
	if len(served) != len(simulator.Models)+1 {
		t.Errorf("served models %v: want one renewed", served)
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
	s, history := open(t, platform.SimulatorShopping, today)
	history.From, history.Models, history.Platforms = today.AddDate(0, 0, -6), simulator.Models[:1], ShoppingPlatforms()
	cards, own := 0, 0
	for a := range history.Answers(s) {
		if a.Platform != "chatgpt-shopping" || a.GivenUp == nil && len(a.Products) < 3 {
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
