package mistral

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Description declares Mistral. The price of its searches is not known.
var Description = platform.Description{
	Slug: "mistral", Name: "Mistral", NeedsKey: true,
	Models: []platform.Model{
		{Slug: "mistral-medium-latest", Typical: typical},
		{Slug: "mistral-large-latest", Typical: typical},
	},
	Limits: platform.Limits{RequestsPerMinute: 60, TokensPerMinute: 500_000, InFlight: 10},
}

var typical = event.Usage{InputTokens: 10_000, OutputTokens: 700, Searches: 1}
