// Package catalog lists the AI platforms that answerscope can ask, and opens them.
package catalog

import (
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/anthropic"
	"github.com/answerscope/answerscope/ingest/platform/gemini"
	"github.com/answerscope/answerscope/ingest/platform/mistral"
	"github.com/answerscope/answerscope/ingest/platform/openai"
	"github.com/answerscope/answerscope/ingest/platform/perplexity"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/ingest/platform/xai"
)

// Settings are how a platform is reached.
type Settings struct {
	Key     string         // the account's; "" for platforms that need none
	BaseURL string         // the part before the version, for example "https://api.openai.com"; "" the platform's own
	Cast    simulator.Cast // whom the simulator's answers name; the others ignore it
}

// Entry is one platform.
type Entry struct {
	platform.Description
	Open func(Settings) (platform.Platform, error)
}

var entries = []Entry{
	{openai.Description, withKey(openai.New)},
	{anthropic.Description, withKey(anthropic.New)},
	{gemini.Description, withKey(gemini.New)},
	{perplexity.Description, withKey(perplexity.New)},
	{xai.Description, withKey(xai.New)},
	{mistral.Description, withKey(mistral.New)},
	{simulator.Description, openSimulator(false)},
	{simulator.ShoppingDescription, openSimulator(true)},
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

func withKey(open func(key, baseURL string) (platform.Platform, error)) func(Settings) (platform.Platform, error) {
	return func(s Settings) (platform.Platform, error) { return open(s.Key, s.BaseURL) }
}

func openSimulator(shopping bool) func(Settings) (platform.Platform, error) {
	return func(s Settings) (platform.Platform, error) {
		config := simulator.DefaultConfig()
		config.Shopping, config.Cast = shopping, s.Cast
		return simulator.New(config)
	}
}
