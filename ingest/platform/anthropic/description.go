package anthropic

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Description declares Anthropic, with the limits of a new account.
var Description = platform.Description{
	Slug: "anthropic", Name: "Anthropic", NeedsKey: true, TakesRegion: true,
	Models: []platform.Model{
		{Slug: "claude-sonnet-5-5", Typical: typical, Price: price("2026-09-29", "2", "10")},
		{Slug: "claude-haiku-4-5", Typical: typical, Price: price("2026-03-21", "1", "5")},
		{Slug: "claude-opus-4-7", Typical: typical, Price: price("2026-05-22", "5", "25")},
		{Slug: "claude-opus-5-5", Typical: typical, Price: price("2026-09-23", "4", "20")},
		{Slug: "claude-haiku-5-5", Typical: typical},
	},
	Limits: platform.Limits{RequestsPerMinute: 50, TokensPerMinute: 30_000, InFlight: 20},
}

var typical = event.Usage{InputTokens: 15_000, OutputTokens: 900, Searches: 1}

func price(date, input, output string) *platform.Price {
	return &platform.Price{Currency: "USD", Date: date, PerMillionInputTokens: input, PerMillionOutputTokens: output, PerThousandSearches: "10"}
}
