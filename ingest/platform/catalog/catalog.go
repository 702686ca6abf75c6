// Package catalog lists the AI platforms that answerscope can ask, and opens them. Each has a file with its
// description, its request and the reader of its answers; capture has the consumer surfaces. Their HTTP APIs share
// api.go.
package catalog

import (
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
)

// Settings are how a platform is reached.
type Settings struct {
	Key     string         // the account's; "" for platforms that need none
	BaseURL string         // the part before the version, for example "https://api.openai.com"; "" the platform's own
	Cast    simulator.Cast // whom the simulator's answers name; the others ignore it

	Accounts []capture.Account // in place of a key: those that capture a consumer surface, in order
}

// Entry is one platform.
type Entry struct {
	platform.Description
	Open func(Settings) (platform.Platform, error)
}

var entries = slices.Concat(
	[]Entry{openAI.entry(), anthropic.entry(), gemini.entry(), perplexity.entry(), xAI.entry(), mistral.entry()},
	surfaces(),
	[]Entry{
		{simulator.Description, openSimulator(platform.Simulator)},
		{simulator.ShoppingDescription, openSimulator(platform.SimulatorShopping)},
		{simulator.OverviewDescription, openSimulator(platform.SimulatorOverview)},
	},
)

func surfaces() (list []Entry) {
	for _, s := range capture.Surfaces() {
		list = append(list, Entry{s, func(settings Settings) (platform.Platform, error) {
			return capture.Open(s.Slug, settings.Accounts)
		}})
	}
	return list
}

// All lists every platform.
func All() []Entry { return slices.Clone(entries) }

// Find returns the platform of that slug.
func Find(slug string) (Entry, bool) {
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Slug == slug })
	if i < 0 {
		return Entry{}, false
	}
	return entries[i], true
}

// Slugs names every platform, for people.
func Slugs() string {
	var slugs []string
	for _, e := range entries {
		slugs = append(slugs, e.Slug)
	}
	return strings.Join(slugs, ", ")
}

func openSimulator(slug string) func(Settings) (platform.Platform, error) {
	return func(s Settings) (platform.Platform, error) {
		config := simulator.DefaultConfig()
		config.Slug, config.Cast = slug, s.Cast
		return simulator.New(config)
	}
}

// models returns models of which answers have the same typical usage.
func models(typical event.Usage, list ...platform.Model) []platform.Model {
	for i := range list {
		list[i].Typical = typical
	}
	return list
}

// usd returns a price in US dollars: of a million tokens of input and of output, and of a thousand searches.
func usd(date, input, output, searches string) *platform.Price {
	return &platform.Price{
		Currency: "USD", Date: date,
		PerMillionInputTokens: input, PerMillionOutputTokens: output, PerThousandSearches: searches,
	}
}
