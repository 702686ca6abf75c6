package capture

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/platform"
)

// surface is what people see of a product.
type surface struct {
	platform.Description
	offers []offer // of two with the same price the first is tried first
}

// offer is a surface as a provider captures it.
type offer struct {
	provider  string
	source    string // the provider's own name of the surface
	price     string // US dollars for a thousand captures
	credits   int64  // for one capture, in place of a price
	maxPrompt int    // characters; 0: not known
}

const (
	pricesOf = "2026-11-26" // the day of the providers' lists
	serpZone = "serp"       // the source of Bright Data's overviews, which has a zone of the account
)

// surfaces is the table of surfaces and their providers. Oxylabs' prices depend on the contract: these are the upper
// ends.
var surfaces = []surface{
	{consumer("google-ai-overview", "Google AI Overview"), []offer{
		{provider: "serpapi", source: "google", price: "25"},
		{provider: "oxylabs", source: "google_search", price: "1.60"},
		{provider: "brightdata", source: serpZone, price: "1.50"},
		{provider: "dataforseo", source: "serp/google/organic", price: "4", maxPrompt: 700},
		{provider: "cloro", source: "GOOGLE", credits: 5, maxPrompt: 10_000},
	}},
	{consumer("google-ai-mode", "Google AI Mode"), []offer{
		{provider: "serpapi", source: "google_ai_mode", price: "25"},
		{provider: "oxylabs", source: "google_ai_mode", price: "1.60", maxPrompt: 400},
		{provider: "brightdata", source: "gd_mcswdt6z2elth3zqr2", price: "1.50"},
		{provider: "dataforseo", source: "serp/google/ai_mode", price: "4", maxPrompt: 700},
		{provider: "cloro", source: "AIMODE", credits: 6, maxPrompt: 10_000},
	}},
	{withoutRegion(consumer("bing-copilot", "Bing Copilot Search")), []offer{
		{provider: "serpapi", source: "bing_copilot", price: "25"},
	}},
	{consumer("chatgpt-web", "ChatGPT"), []offer{
		{provider: "oxylabs", source: "chatgpt", price: "1.60", maxPrompt: 4000},
		{provider: "brightdata", source: "gd_m7aof0k82r803d5bjm", price: "1.50"},
		{provider: "dataforseo", source: "ai_optimization/chat_gpt/llm_scraper", price: "4", maxPrompt: 2000},
		{provider: "cloro", source: "CHATGPT", credits: 7, maxPrompt: 10_000},
	}},
	{consumer("chatgpt-shopping", "ChatGPT Shopping"), []offer{
		{provider: "dataforseo", source: "ai_optimization/chat_gpt/llm_scraper", price: "4", maxPrompt: 2000},
		{provider: "cloro", source: "CHATGPT", credits: 7, maxPrompt: 10_000},
	}},
	{consumer("perplexity-web", "Perplexity"), []offer{
		{provider: "oxylabs", source: "perplexity", price: "1.60", maxPrompt: 8000},
		{provider: "brightdata", source: "gd_m7dhdot1vw9a7gc1n", price: "5"},
		{provider: "cloro", source: "PERPLEXITY", credits: 5, maxPrompt: 10_000},
	}},
	{consumer("gemini-web", "Gemini"), []offer{
		{provider: "oxylabs", source: "gemini", price: "1.60", maxPrompt: 8000},
		{provider: "brightdata", source: "gd_mbz66arm2mf9cu856y", price: "1.50"},
		{provider: "dataforseo", source: "ai_optimization/gemini/llm_scraper", price: "4", maxPrompt: 2000},
		{provider: "cloro", source: "GEMINI", credits: 6, maxPrompt: 10_000},
	}},
	{consumer("copilot-web", "Microsoft Copilot"), []offer{
		{provider: "brightdata", source: "gd_m7di5jy6s9geokz8w", price: "1.50"},
		{provider: "cloro", source: "COPILOT", credits: 7, maxPrompt: 10_000},
	}},
	{consumer("grok-web", "Grok"), []offer{
		{provider: "cloro", source: "GROK", credits: 6, maxPrompt: 10_000},
	}},
}

func consumer(slug, name string) platform.Description {
	return platform.Description{Slug: slug, Name: name, NeedsKey: true, TakesRegion: true}
}

func withoutRegion(d platform.Description) platform.Description {
	d.TakesRegion = false
	return d
}

// providers lists the capture providers.
var providers = []*provider{&serpAPI, &oxylabs, &brightData, &dataForSEO, &cloro}

// defaultCredit is the price of a credit of Cloro's smallest plan, in US dollars.
const defaultCredit = "0.0008"

// cost returns the price of a thousand captures where a credit costs so much.
func (o offer) cost(credit string) *big.Rat {
	if o.credits == 0 {
		price, _ := new(big.Rat).SetString(o.price) // of the table
		return price
	}
	price, _ := new(big.Rat).SetString(cmp.Or(credit, defaultCredit)) // of the settings, which are checked
	return price.Mul(price, big.NewRat(o.credits*1000, 1))
}

func (o offer) priced(credit string) *platform.Price {
	price := strings.TrimRight(strings.TrimRight(o.cost(credit).FloatString(3), "0"), ".")
	return &platform.Price{Currency: "USD", Date: pricesOf, PerThousandRequests: price}
}

// Surfaces lists every surface, at the price of its dearest provider.
func Surfaces() (list []platform.Description) {
	for _, s := range surfaces {
		dearest := slices.MaxFunc(s.offers, func(a, b offer) int { return a.cost("").Cmp(b.cost("")) })
		s.Price = dearest.priced("")
		list = append(list, s.Description)
	}
	return list
}

// Providers lists every provider.
func Providers() (list []platform.Description) {
	for _, p := range providers {
		list = append(list, p.Description)
	}
	return list
}

// HasUser reports whether the keys of a provider have the form user:password.
func HasUser(slug string) bool {
	p := findProvider(slug)
	return p != nil && p.hasUser
}

func findProvider(slug string) *provider {
	i := slices.IndexFunc(providers, func(p *provider) bool { return p.Slug == slug })
	if i < 0 {
		return nil
	}
	return providers[i]
}

func indexOf(slug string) int {
	return slices.IndexFunc(surfaces, func(s surface) bool { return s.Slug == slug })
}

// Offers names the providers of a surface; none: slug is no surface.
func Offers(slug string) (names []string) {
	if i := indexOf(slug); i >= 0 {
		for _, o := range surfaces[i].offers {
			names = append(names, o.provider)
		}
	}
	return names
}

// Price returns the price of a capture of a surface at a provider.
func Price(slug string, a Account) *platform.Price {
	return offerOf(slug, a.Provider).priced(a.CreditUSD)
}

func offerOf(slug, provider string) offer {
	offers := surfaces[indexOf(slug)].offers
	return offers[slices.IndexFunc(offers, func(o offer) bool { return o.provider == provider })]
}

// Choose returns the accounts that can capture a surface, in the order in which they are tried: the accounts of the
// providers in order alone or, if that is empty, all by price.
func Choose(slug string, accounts []Account, order []string) (chosen []Account) {
	for _, o := range surfaces[indexOf(slug)].offers {
		for _, a := range accounts {
			if a.Provider == o.provider && (o.source != serpZone || a.Zone != "") {
				chosen = append(chosen, a)
			}
		}
	}
	if len(order) > 0 {
		chosen = slices.DeleteFunc(chosen, func(a Account) bool { return !slices.Contains(order, a.Provider) })
		place := func(a Account) int { return slices.Index(order, a.Provider) }
		slices.SortFunc(chosen, func(a, b Account) int { return cmp.Compare(place(a), place(b)) })
		return chosen
	}
	cost := func(a Account) *big.Rat { return offerOf(slug, a.Provider).cost(a.CreditUSD) }
	slices.SortStableFunc(chosen, func(a, b Account) int { return cost(a).Cmp(cost(b)) })
	return chosen
}
