package openai

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Description declares OpenAI, with the limits of a new account.
var Description = platform.Description{
	Slug: "openai", Name: "OpenAI", NeedsKey: true, TakesRegion: true,
	Models: []platform.Model{
		{Slug: "gpt-5.4", Typical: typical, Price: price("2026-05-04", "2.50", "15")},
		{Slug: "gpt-5.4-mini", Typical: typical, Price: price("2026-05-04", "0.75", "4.50")},
		{Slug: "gpt-5.5", Typical: typical, Price: price("2026-05-04", "5", "30")},
		{Slug: "gpt-5.6-sol", Typical: typical, Price: price("2026-09-24", "5", "30")}, // the list's; from August to November it cost less
		{Slug: "gpt-5.6-terra", Typical: typical, Price: price("2026-07-30", "2", "12")},
		{Slug: "gpt-5.6-luna", Typical: typical, Price: price("2026-07-30", "0.20", "1.20")},
	},
	Limits: platform.Limits{RequestsPerMinute: 500, TokensPerMinute: 500_000, InFlight: 50},
}

var typical = event.Usage{InputTokens: 12_000, OutputTokens: 900, Searches: 1}

func price(date, input, output string) *platform.Price {
	return &platform.Price{Currency: "USD", Date: date, PerMillionInputTokens: input, PerMillionOutputTokens: output, PerThousandSearches: "10"}
}
