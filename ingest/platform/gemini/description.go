package gemini

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Description declares Gemini. The first 5,000 searches of a month are free; the price applies after them.
var Description = platform.Description{
	Slug: "gemini", Name: "Google Gemini", NeedsKey: true,
	Models: []platform.Model{
		{Slug: "gemini-3.5-flash", Typical: typical, Price: price("1.50", "9")},
		{Slug: "gemini-3.1-pro-preview", Typical: typical, Price: price("2", "12")},
	},
	Limits: platform.Limits{RequestsPerMinute: 150, TokensPerMinute: 1_000_000, InFlight: 30},
}

var typical = event.Usage{InputTokens: 200, OutputTokens: 1500, Searches: 2}

func price(input, output string) *platform.Price {
	return &platform.Price{Currency: "USD", Date: "2026-09-20", PerMillionInputTokens: input, PerMillionOutputTokens: output, PerThousandSearches: "14"}
}
