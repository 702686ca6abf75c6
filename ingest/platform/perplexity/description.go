package perplexity

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Description declares Perplexity, whose answers include their cost.
var Description = platform.Description{
	Slug: "perplexity", Name: "Perplexity", NeedsKey: true, TakesRegion: true,
	Models: []platform.Model{{
		Slug: "perplexity/sonar", Typical: event.Usage{InputTokens: 6000, OutputTokens: 600, Searches: 1},
		Price: &platform.Price{Currency: "USD", Date: "2026-07-04", PerMillionInputTokens: "0.25", PerMillionOutputTokens: "2.50", PerThousandSearches: "5"},
	}},
	Limits: platform.Limits{RequestsPerMinute: 50, InFlight: 20},
}
