// Package demo makes the invented data of the demo: a brand with competitors and prompts, and a history of answers,
// visits and crawls. The data depends on the simulator alone, so it can be appended again without duplicates.
package demo

import (
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Brand returns the demo's brand with its competitors. Their hosts end in a reserved domain, so they never exist.
func Brand() postgres.NewBrand {
	return postgres.NewBrand{
		Name: "Fernwood", Slug: "fernwood", Industry: "outdoor", Region: "us", Language: "en",
		Aliases: []string{"Fernwood Outdoor"}, Domains: []string{"fernwood.example", "fernwood-outdoor.example"},
		Competitors: []postgres.NewCompetitor{
			{Name: "Altrek", Domains: []string{"altrek.example"}},
			{Name: "Pinecrest", Aliases: []string{"Pinecrest Gear"}, Domains: []string{"pinecrest.example"}},
			{Name: "Vandrå", Aliases: []string{"Vandra"}, Domains: []string{"vandra.example"}},
			{Name: "Kestrel & Co", Aliases: []string{"Kestrel"}, Domains: []string{"kestrel.example"}},
			{Name: "Bergluft", Domains: []string{"bergluft.example"}},
		},
	}
}

// Platforms returns the platforms that the demo shows, by the model that stands in for each.
func Platforms() map[string]string {
	return map[string]string{simulator.Models[0]: "chatgpt-web", simulator.Models[1]: "perplexity-web",
		simulator.Models[2]: "gemini-web", simulator.Models[3]: "copilot-web"}
}

// Changes returns what happens in the weeks before the first start of a demo, so that each verdict is seen: one rate
// moves on the platform of the first model, one everywhere, and one in answers about tents. Weaker moves are dated less
// well; stronger ones reach the largest e-value days too early.
func Changes(firstStart time.Time) []simulator.Change {
	ago := func(days int) time.Time { return day(firstStart).AddDate(0, 0, -days) }
	return []simulator.Change{
		{From: ago(20), Prompt: "tent", Entity: "Bergluft", By: -1},
		{From: ago(20), Until: ago(3), Model: simulator.Models[3], Outage: true},
		{From: ago(12), Model: simulator.Models[0], Entity: "Fernwood", By: -0.35},
		{From: ago(12), Entity: "Altrek", By: 0.2},
		{From: ago(10), Model: simulator.Models[2], Entity: "Fernwood", By: -0.2, Renewed: true},
	}
}

// ShoppingPlatforms returns the platform of the demo's shopping cards, by the model that stands in for it.
func ShoppingPlatforms() map[string]string {
	return map[string]string{simulator.Models[0]: "chatgpt-shopping"}
}

// Prompt is a prompt of the demo, before it is stored.
type Prompt struct {
	Text, Topic, Region, Language string
	Samples                       int // a day and model
}

// Tracked returns the prompt as it was stored, and how it is asked.
func (p Prompt) Tracked(stored event.Prompt) TrackedPrompt {
	return TrackedPrompt{Prompt: stored, Region: p.Region, Language: p.Language, Samples: p.Samples}
}

// Prompts returns the prompts that the demo tracks for its brand.
func Prompts() []Prompt {
	return []Prompt{
		{"best rain jacket for hiking", "jackets", "us", "en", 2},
		{"lightweight waterproof jacket under $200", "jackets", "us", "en", 2},
		{"which brands make sustainable outdoor jackets?", "jackets", "us", "en", 1},
		{"Fernwood or Altrek for a rain jacket?", "jackets", "us", "en", 1},
		{"winter jacket for city and mountains", "jackets", "gb", "en", 1},
		{"best two-person tent for beginners", "tents", "us", "en", 2},
		{"ultralight tent for long hikes", "tents", "us", "en", 2},
		{"family tent that survives heavy wind", "tents", "gb", "en", 1},
		{"is Fernwood good for tents?", "tents", "us", "en", 1},
		{"four season tent recommendations", "tents", "us", "en", 1},
		{"best hiking backpack 40 liters", "backpacks", "us", "en", 2},
		{"backpack brands with lifetime warranty", "backpacks", "us", "en", 1},
		{"comfortable backpack for women", "backpacks", "gb", "en", 1},
		{"carry-on travel backpack", "backpacks", "us", "en", 1},
		{"best sleeping bag for cold nights", "sleeping bags", "us", "en", 2},
		{"down or synthetic sleeping bag?", "sleeping bags", "us", "en", 1},
		{"warm sleeping bag for tall people", "sleeping bags", "us", "en", 1},
		{"hiking boots for wide feet", "boots", "us", "en", 2},
		{"waterproof boots that last", "boots", "gb", "en", 1},
		{"trail running shoes or hiking boots?", "boots", "us", "en", 1},
		{"beste Regenjacke zum Wandern", "jackets", "de", "de", 2},
		{"leichtes Zelt für zwei Personen", "tents", "de", "de", 1},
		{"meilleure tente légère pour deux", "tents", "fr", "fr", 1},
		{"quel sac à dos pour une semaine de randonnée ?", "backpacks", "fr", "fr", 1},
		{"mejores botas de senderismo impermeables", "boots", "es", "es", 1},
		{"登山用レインジャケットのおすすめ", "jackets", "jp", "ja", 1},
		{"초보자를 위한 2인용 텐트 추천", "tents", "kr", "ko", 1},
		{"徒步背包哪个牌子好", "backpacks", "cn", "zh", 1},
		{"أفضل سترة مطر للتنزه", "jackets", "sa", "ar", 1},
		{"outdoor brands with good customer service", "service", "us", "en", 1},
	}
}
