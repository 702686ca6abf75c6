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
	slug, name string
	offers     []offer // of two with the same price the first is tried first
}

// offer is a surface as a provider captures it.
type offer struct {
	provider  string
	source    string // the provider's own name of the surface: an engine, source, data set or type of task
	price     string // US dollars for a thousand captures
	credits   int64  // for one capture, in place of a price
	maxPrompt int    // characters; 0: not known
}

const (
	overview    = "google-ai-overview" // may be missing from its page
	bingCopilot = "bing-copilot"       // takes no region

	pricesOf      = "2026-11-26" // the day of the providers' lists
	serpZone      = "serp"       // the source of Bright Data's overviews, which has a zone of the account
	defaultCredit = "0.0008"     // US dollars: the price of a credit of Cloro's smallest plan
)

// surfaces is the table of surfaces and their providers. Oxylabs' prices depend on the contract: these are the upper
// ends.
var surfaces = []surface{
	{overview, "Google AI Overview", []offer{
		{provider: "serpapi", source: "google", price: "25"},
		{provider: "oxylabs", source: "google_search", price: "1.60"},
		{provider: "brightdata", source: serpZone, price: "1.50"},
		{provider: "dataforseo", source: "serp/google/organic", price: "4", maxPrompt: 700},
		{provider: "cloro", source: "GOOGLE", credits: 5, maxPrompt: 10_000},
	}},
	{"google-ai-mode", "Google AI Mode", []offer{
		{provider: "serpapi", source: "google_ai_mode", price: "25"},
		{provider: "oxylabs", source: "google_ai_mode", price: "1.60", maxPrompt: 400},
		{provider: "brightdata", source: "gd_mcswdt6z2elth3zqr2", price: "1.50"},
		{provider: "dataforseo", source: "serp/google/ai_mode", price: "4", maxPrompt: 700},
		{provider: "cloro", source: "AIMODE", credits: 6, maxPrompt: 10_000},
	}},
	{bingCopilot, "Bing Copilot Search", []offer{
		{provider: "serpapi", source: "bing_copilot", price: "25"},
	}},
	{"chatgpt-web", "ChatGPT", []offer{
		{provider: "oxylabs", source: "chatgpt", price: "1.60", maxPrompt: 4000},
		{provider: "brightdata", source: "gd_m7aof0k82r803d5bjm", price: "1.50"},
		{provider: "dataforseo", source: "ai_optimization/chat_gpt/llm_scraper", price: "4", maxPrompt: 2000},
		{provider: "cloro", source: "CHATGPT", credits: 7, maxPrompt: 10_000},
	}},
	{"chatgpt-shopping", "ChatGPT Shopping", []offer{
		{provider: "dataforseo", source: "ai_optimization/chat_gpt/llm_scraper", price: "4", maxPrompt: 2000},
		{provider: "cloro", source: "CHATGPT", credits: 7, maxPrompt: 10_000},
	}},
	{"perplexity-web", "Perplexity", []offer{
		{provider: "oxylabs", source: "perplexity", price: "1.60", maxPrompt: 8000},
		{provider: "brightdata", source: "gd_m7dhdot1vw9a7gc1n", price: "5"},
		{provider: "cloro", source: "PERPLEXITY", credits: 5, maxPrompt: 10_000},
	}},
	{"gemini-web", "Gemini", []offer{
		{provider: "oxylabs", source: "gemini", price: "1.60", maxPrompt: 8000},
		{provider: "brightdata", source: "gd_mbz66arm2mf9cu856y", price: "1.50"},
		{provider: "dataforseo", source: "ai_optimization/gemini/llm_scraper", price: "4", maxPrompt: 2000},
		{provider: "cloro", source: "GEMINI", credits: 6, maxPrompt: 10_000},
	}},
	{"copilot-web", "Microsoft Copilot", []offer{
		{provider: "brightdata", source: "gd_m7di5jy6s9geokz8w", price: "1.50"},
		{provider: "cloro", source: "COPILOT", credits: 7, maxPrompt: 10_000},
	}},
	{"grok-web", "Grok", []offer{
		{provider: "cloro", source: "GROK", credits: 6, maxPrompt: 10_000},
	}},
}

// providers lists the capture providers.
var providers = []*provider{&serpAPI, &oxylabs, &brightData, &dataForSEO, &cloro}

// findSurface returns the surface of that slug; one without offers: there is none.
func findSurface(slug string) surface {
	for _, s := range surfaces {
		if s.slug == slug {
			return s
		}
	}
	return surface{}
}

// offer returns the offer of a provider; one that is free and has no provider: it has none.
func (s surface) offer(provider string) offer {
	for _, o := range s.offers {
		if o.provider == provider {
			return o
		}
	}
	return offer{price: "0"}
}

func findProvider(slug string) provider {
	for _, p := range providers {
		if p.Slug == slug {
			return *p
		}
	}
	return provider{}
}

// HasUser reports whether the keys of a provider have the form user:password.
func HasUser(slug string) bool { return findProvider(slug).hasUser }

// BlocksAddresses reports whether a provider blocks addresses that it has refused too often for their rate.
func BlocksAddresses(slug string) bool { return findProvider(slug).minPause > 0 }

// Cancels reports whether a provider can end a job.
func Cancels(slug string) bool { return findProvider(slug).jobs.cancel != "" }

// Surfaces lists every surface, at the highest price of its providers.
func Surfaces() (list []platform.Description) {
	for _, s := range surfaces {
		highest := slices.MaxFunc(s.offers, func(a, b offer) int { return a.perThousand("").Cmp(b.perThousand("")) })
		list = append(list, platform.Description{
			Slug: s.slug, Name: s.name, NeedsKey: true, TakesRegion: s.slug != bingCopilot,
			Price: asPrice(highest.perThousand("")),
		})
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

// Offers names the providers of a surface; none: slug is no surface.
func Offers(slug string) (names []string) {
	for _, o := range findSurface(slug).offers {
		names = append(names, o.provider)
	}
	return names
}

// NeedsZone reports whether a provider captures a surface only with a zone of the account.
func NeedsZone(slug, provider string) bool {
	return findSurface(slug).offer(provider).source == serpZone
}

// Choose returns the accounts that can capture a surface, in the order in which they are tried: the accounts of the
// providers in order alone or, if that is empty, all by price.
func Choose(slug string, accounts []Account, order []string) (chosen []Account) {
	s := findSurface(slug)
	for _, o := range s.offers {
		for _, a := range accounts {
			isListed := len(order) == 0 || slices.Contains(order, a.Provider)
			if isListed && a.Provider == o.provider && (o.source != serpZone || a.Zone != "") {
				chosen = append(chosen, a)
			}
		}
	}
	price := func(a Account) *big.Rat { return s.offer(a.Provider).perThousand(a.CreditUSD) }
	slices.SortStableFunc(chosen, func(a, b Account) int {
		if len(order) == 0 {
			return price(a).Cmp(price(b))
		}
		return cmp.Compare(slices.Index(order, a.Provider), slices.Index(order, b.Provider))
	})
	return chosen
}

// perThousand returns the price of a thousand captures where a credit costs so much.
func (o offer) perThousand(credit string) *big.Rat {
	if o.credits == 0 {
		price, _ := new(big.Rat).SetString(o.price) // of the table
		return price
	}
	price, _ := new(big.Rat).SetString(cmp.Or(credit, defaultCredit)) // of the settings, which are checked
	return price.Mul(price, big.NewRat(o.credits*1000, 1))
}

// Price returns the price of a capture of a surface at a provider.
func Price(slug string, a Account) *platform.Price {
	return asPrice(findSurface(slug).offer(a.Provider).perThousand(a.CreditUSD))
}

// HighestPrice returns what a capture costs at most at one of the accounts, with a second page where there may be one.
// Without accounts it takes all providers.
func HighestPrice(slug string, accounts []Account) *platform.Price {
	if len(accounts) == 0 {
		for _, provider := range Offers(slug) {
			accounts = append(accounts, Account{Provider: provider})
		}
	}
	highest := new(big.Rat)
	for _, a := range accounts {
		price := findSurface(slug).offer(a.Provider).perThousand(a.CreditUSD)
		if a.Provider == serpAPI.Slug && slug == overview {
			price.Add(price, price)
		}
		if price.Cmp(highest) > 0 {
			highest = price
		}
	}
	return asPrice(highest)
}

func asPrice(perThousand *big.Rat) *platform.Price {
	text := strings.TrimRight(strings.TrimRight(perThousand.FloatString(6), "0"), ".")
	return &platform.Price{Currency: "USD", Date: pricesOf, PerThousandRequests: text}
}
