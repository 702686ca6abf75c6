package metrics

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A brandFact is a brand that is tracked.
type brandFact struct {
	Organization string   `json:"organization"` // "" is acme
	Name         string   `json:"name"`
	Slug         string   `json:"slug"`
	Industry     string   `json:"industry"`
	Region       string   `json:"region"`
	Domains      []string `json:"domains"`
	Competitors  []struct {
		Name    string   `json:"name"`
		Domains []string `json:"domains"`
	} `json:"competitors"`
}

// An answerFact is an answer of a platform, or a run that was given up.
type answerFact struct {
	Brand    string          `json:"brand"`  // slug; "" is the first brand
	On       string          `json:"on"`     // a day, at noon, or an instant
	Prompt   string          `json:"prompt"` // its text when the test first names it; "" is "p1"
	Topic    string          `json:"topic"`  // its name when the test first names it
	Branded  *bool           `json:"branded"`
	Platform string          `json:"platform"` // "" is openai
	Model    string          `json:"model"`    // "" is gpt
	Served   string          `json:"served"`
	Provider string          `json:"provider"`
	Region   string          `json:"region"`
	Text     string          `json:"text"`
	Cites    []string        `json:"cites"`
	Titles   []string        `json:"titles"` // of cites, in their order
	Consults []string        `json:"consults"`
	Searches []string        `json:"searches"` // before it was answered
	Products []event.Product `json:"products"`
	GivenUp  string          `json:"given_up"` // its class
	NotShown bool            `json:"not_shown"`
	Times    int             `json:"times"`    // so many alike; 0 is 1
	Corrects int             `json:"corrects"` // the answer of the stage, from 1, that this is another reading of
}

// record is the fact's record, with the text that its prompt has now.
func (f answerFact) record(t *testing.T, s *stage, brand postgres.Snapshot) *event.Answer {
	t.Helper()
	s.know(t, f)
	slug := cmp.Or(f.Brand, s.brands[0])
	prompt := s.prompts[s.named(slug, cmp.Or(f.Prompt, "p1"))]
	a := &event.Answer{
		V:              event.Version,
		OrganizationID: brand.OrganizationID,
		Brand: event.Brand{
			Entity: event.Entity{
				ID: brand.BrandID, Name: brand.Name, Aliases: brand.Aliases, Domains: brand.Domains,
			}, Revision: brand.Revision,
		},
		Prompt:   event.Prompt{ID: prompt.ID, Text: prompt.Text, SetID: prompt.SetID, IsBranded: f.Branded},
		Platform: cmp.Or(f.Platform, "openai"), Model: cmp.Or(f.Model, "gpt"), ServedModel: f.Served,
		Provider: f.Provider, Region: f.Region,
		Sample:     int64(cmp.Or(f.Corrects, s.facts+1)), // no two facts are one run
		AnsweredAt: event.At(instantOf(t, f.On)), Attempts: 1,
	}
	for _, c := range brand.Competitors {
		a.Competitors = append(a.Competitors, event.Entity(c))
	}
	if f.Topic != "" {
		a.Prompt.TopicID = new(s.id(s.named(slug, f.Topic)))
	}
	f.outcome(a)
	a.ID = event.RunID(event.Identity{
		BrandID: a.Brand.ID, PromptText: a.Prompt.Text, Platform: a.Platform, Model: a.Model, Region: a.Region,
		Sample: a.Sample, Due: a.AnsweredAt.Time,
	})
	return a
}

func (f answerFact) outcome(a *event.Answer) {
	if f.GivenUp != "" {
		a.GivenUp = &event.GivenUp{Class: f.GivenUp}
		return
	}
	if f.NotShown {
		a.Finish = event.FinishNotShown
		return
	}
	a.Text, a.Finish, a.Products, a.SearchQueries = f.Text, event.FinishComplete, f.Products, f.Searches
	for i, url := range f.Cites {
		c := event.Citation{URL: url, Cited: true}
		if i < len(f.Titles) {
			c.Title = f.Titles[i]
		}
		a.Citations = append(a.Citations, c)
	}
	for _, url := range f.Consults {
		a.Citations = append(a.Citations, event.Citation{URL: url})
	}
}

func instantOf(t *testing.T, text string) time.Time {
	t.Helper()
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(12 * time.Hour)
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// idOf is the same id for the same words in every run.
func idOf(words ...string) uuid.UUID {
	id := uuid.UUID{}
	for _, w := range words {
		id = uuid.NewV5(id, w)
	}
	return id
}

// lines decodes NDJSON into values of one type; a field that the type lacks is a mistake in the scenario.
func lines[T any](t *testing.T, text []byte) []T {
	t.Helper()
	var all []T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	for decoder.More() {
		var one T
		if err := decoder.Decode(&one); err != nil {
			t.Fatal(fmt.Errorf("line %d: %w", len(all)+1, err))
		}
		all = append(all, one)
	}
	return all
}
