package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

var (
	space = uuid.Must(uuid.FromString("6ba7b811-9dad-11d1-80b4-00c04fd430c8"))
	start = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
)

// named is an id that is the same on every run.
func named(kind string, i int) uuid.UUID { return uuid.NewV5(space, fmt.Sprint(kind, i)) }

// someVisit is the i-th of visits that differ as real ones do.
func someVisit(i int) event.Visit {
	at := start.Add(time.Duration(i) * 173 * time.Millisecond)
	return event.Visit{
		ID:             event.RunID(event.Identity{BrandID: named("brand", i%7), Sample: int64(i), Due: at}),
		OrganizationID: named("organization", i%3), BrandID: named("brand", i%7), At: event.At(at),
		Event: event.VisitView, Platform: []string{"chatgpt", "perplexity", "gemini"}[i%3], PlatformBy: "referrer",
		Host: "www.brand.example", Path: "/shop/" + strings.Repeat("machine-", i%4) + "plus", ReferrerHost: "chatgpt.com",
		Country: []string{"DE", "US", "JP"}[i%3], Language: "de-DE", Screen: "1920x1080",
		Session: fmt.Sprintf("%010x", i*7919), NewSession: i%2 == 0, Visitor: uint64(i) * 0x9e3779b97f4a7c15,
	}
}

// someAnswer is the i-th of answers of 3 to 8 KB: Markdown with links, six competitors, two to nine citations.
func someAnswer(i int) event.Answer {
	run := event.Identity{
		BrandID: named("brand", i%7), PromptText: fmt.Sprintf("what is the best espresso machine under $%d?", 100+i), Platform: "openai",
		Model: "gpt-5.1", Region: "us", Sample: 1, Due: start.Add(time.Duration(i) * time.Minute),
	}
	a := event.Answer{
		ID: event.RunID(run), OrganizationID: named("organization", i%3),
		Brand:    event.Brand{Entity: entity("brand", i%7), Revision: 3},
		Prompt:   event.Prompt{ID: named("prompt", i), Text: run.PromptText, SetID: named("set", i%7)},
		Platform: run.Platform, Model: run.Model, ServedModel: "gpt-5.1-2026-02-11", Region: run.Region, Language: "en",
		Surface: event.SurfaceAPI, Sample: run.Sample, AnsweredAt: event.At(run.Due.Add(4 * time.Second)), LatencyMS: 4000,
		Attempts: 1, Finish: event.FinishComplete,
		Text:          strings.Repeat("### ☕ Best for small kitchens\n\n* **[Breville \"Bambino\"]()** – \\$299.95: heats up in 3 seconds\n", 12+i%24),
		SearchQueries: []string{"best espresso machine 2026"},
		Usage:         &event.Usage{InputTokens: 812, OutputTokens: 1490, Searches: 1, CostUSD: "0.021350"},
	}
	for c := range 6 {
		a.Competitors = append(a.Competitors, entity("rival", c))
	}
	for c := range 2 + i%8 {
		a.Citations = append(a.Citations, event.Citation{
			URL:   fmt.Sprintf("https://www.magazine%d.example/reviews/best-espresso-machines?utm_source=openai", c),
			Title: "The best espresso machines for small kitchens, tested", Cited: true,
		})
	}
	return a
}

func entity(kind string, i int) event.Entity {
	name := fmt.Sprintf("%s %d", kind, i)
	return event.Entity{ID: named(kind, i), Name: name, Aliases: []string{"The " + name}, Domains: []string{fmt.Sprintf("%s%d.example", kind, i)}}
}
