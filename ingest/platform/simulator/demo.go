package simulator

import "github.com/answerscope/answerscope/sql/postgres"

// DemoBrand is the invented brand of the demo, with its competitors. Its hosts can never exist.
func DemoBrand() postgres.NewBrand {
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

// DemoPlatforms are the platforms whose figures the demo shows, by the model that stands in for each.
func DemoPlatforms() map[string]string {
	return map[string]string{Models[0]: "chatgpt-web", Models[1]: "perplexity-web", Models[2]: "gemini-web"}
}

// DemoShopping is the platform of the demo's shopping cards, by the model that stands in for it.
func DemoShopping() map[string]string { return map[string]string{Models[0]: "chatgpt-shopping"} }

// DemoPrompt is a prompt of the demo.
type DemoPrompt struct {
	Text, Topic, Region, Language string
	Samples                       int
}

// DemoPrompts are the prompts that the demo tracks for DemoBrand.
func DemoPrompts() []DemoPrompt {
	return []DemoPrompt{
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
