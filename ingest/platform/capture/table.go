package capture

import "github.com/answerscope/answerscope/ingest/platform"

// surface is what people see of a product.
type surface struct {
	platform.Description
	offers []offer // of the same price: the preferred one first
}

// offer is a surface as a provider captures it.
type offer struct {
	provider  string
	source    string // the provider's own name of the surface
	price     string // US dollars for a thousand captures; Cloro: credits for one
	maxPrompt int    // characters; 0: not known
}

// surfaces is the table of surfaces and their providers. Oxylabs' prices depend on the contract: these are the upper
// ends.
var surfaces = []surface{
	{consumer("google-ai-overview", "Google AI Overview"), []offer{
		{provider: "oxylabs", source: "google_search", price: "1.60"},
		{provider: "brightdata", source: "serp", price: "1.50"},
		{provider: "cloro", source: "GOOGLE", price: "5", maxPrompt: 10_000},
		{provider: "serpapi", source: "google", price: "25"},
	}},
	{consumer("google-ai-mode", "Google AI Mode"), []offer{
		{provider: "brightdata", source: "gd_mcswdt6z2elth3zqr2", price: "1.50"},
		{provider: "oxylabs", source: "google_ai_mode", price: "1.60", maxPrompt: 400},
		{provider: "cloro", source: "AIMODE", price: "6", maxPrompt: 10_000},
		{provider: "serpapi", source: "google_ai_mode", price: "25"},
	}},
	{withoutRegion(consumer("bing-copilot", "Bing Copilot Search")), []offer{
		{provider: "serpapi", source: "bing_copilot", price: "25"},
	}},
	{consumer("chatgpt-web", "ChatGPT"), []offer{
		{provider: "brightdata", source: "gd_m7aof0k82r803d5bjm", price: "1.50"},
		{provider: "oxylabs", source: "chatgpt", price: "1.60", maxPrompt: 4000},
		{provider: "cloro", source: "CHATGPT", price: "7", maxPrompt: 10_000},
	}},
	{consumer("chatgpt-shopping", "ChatGPT Shopping"), []offer{
		{provider: "cloro", source: "CHATGPT", price: "7", maxPrompt: 10_000},
	}},
	{consumer("perplexity-web", "Perplexity"), []offer{
		{provider: "oxylabs", source: "perplexity", price: "1.60", maxPrompt: 8000},
		{provider: "cloro", source: "PERPLEXITY", price: "5", maxPrompt: 10_000},
		{provider: "brightdata", source: "gd_m7dhdot1vw9a7gc1n", price: "5"},
	}},
	{consumer("gemini-web", "Gemini"), []offer{
		{provider: "brightdata", source: "gd_mbz66arm2mf9cu856y", price: "1.50"},
		{provider: "oxylabs", source: "gemini", price: "1.60", maxPrompt: 8000},
		{provider: "cloro", source: "GEMINI", price: "6", maxPrompt: 10_000},
	}},
	{consumer("copilot-web", "Microsoft Copilot"), []offer{
		{provider: "brightdata", source: "gd_m7di5jy6s9geokz8w", price: "1.50"},
		{provider: "cloro", source: "COPILOT", price: "7", maxPrompt: 10_000},
	}},
	{consumer("grok-web", "Grok"), []offer{
		{provider: "cloro", source: "GROK", price: "6", maxPrompt: 10_000},
	}},
}

func consumer(slug, name string) platform.Description {
	return platform.Description{Slug: slug, Name: name, NeedsKey: true, TakesRegion: true}
}

func withoutRegion(d platform.Description) platform.Description {
	d.TakesRegion = false
	return d
}
