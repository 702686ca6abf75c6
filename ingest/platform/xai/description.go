package xai

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Description declares xAI, whose answers include their cost; the prices are for estimates.
var Description = platform.Description{
	Slug: "xai", Name: "xAI", NeedsKey: true, TakesRegion: true,
	Models: []platform.Model{
		{Slug: "grok-4.3", Typical: typical, Price: price("2026-07-02", "1.25", "2.50")},
		{Slug: "grok-4.7", Typical: typical, Price: price("2026-09-29", "2", "6")},
	},
	Limits: platform.Limits{RequestsPerMinute: 480, TokensPerMinute: 4_000_000, InFlight: 50},
}

var typical = event.Usage{InputTokens: 20_000, OutputTokens: 1200, Searches: 3}

func price(date, input, output string) *platform.Price {
	return &platform.Price{Currency: "USD", Date: date, PerMillionInputTokens: input, PerMillionOutputTokens: output, PerThousandSearches: "5"}
}
