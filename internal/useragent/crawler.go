package useragent

import "slices"

// A Crawler fetches pages for an AI: to train a model, to search, or because a person asked.
type Crawler struct {
	Name     string // as the crawler spells it
	Operator string // who runs it, "" unknown
	Platform string // slug of the AI platform that it works for, as visits have it; "" none of those
	Purpose  Purpose
}

// Purpose is what a crawler fetches pages for.
type Purpose string

// The purposes of a crawler.
const (
	Training Purpose = "training" // what a model learns from, or a data set for that
	Search   Purpose = "search"   // an index that answers are looked up in
	User     Purpose = "user"     // a page for one person's question, or for an agent that works for one
)

// Crawlers returns all crawlers that are known, those of the platforms that send visits first.
func Crawlers() []Crawler {
	return slices.Clone(crawlers)
}

// crawlers are known by their names, in any case, where no letter, digit or underscore touches them. The longest name of
// an agent counts: Applebot-Extended is not Applebot. Operators and purposes are those that the operators publish or,
// where they do not, those of ai-robots-txt/ai.robots.txt.
var crawlers = []Crawler{
	// The platforms that send visits.
	{"GPTBot", "OpenAI", "chatgpt", Training},
	{"OAI-SearchBot", "OpenAI", "chatgpt", Search},
	{"ChatGPT-User", "OpenAI", "chatgpt", User},
	{"ChatGPT Agent", "OpenAI", "chatgpt", User},
	{"PerplexityBot", "Perplexity", "perplexity", Search},
	{"Perplexity-User", "Perplexity", "perplexity", User},
	{"ClaudeBot", "Anthropic", "claude", Training},
	{"anthropic-ai", "Anthropic", "claude", Training},
	{"Claude-Web", "Anthropic", "claude", Training},
	{"Claude-SearchBot", "Anthropic", "claude", Search},
	{"Claude-User", "Anthropic", "claude", User},
	{"Claude-Code", "Anthropic", "claude", User},
	{"Google-Extended", "Google", "gemini", Training},
	{"Gemini-Deep-Research", "Google", "gemini", User},
	{"Google-NotebookLM", "Google", "gemini", User},
	{"Google-Agent", "Google", "gemini", User},
	{"GoogleAgent-Mariner", "Google", "gemini", User},
	{"GoogleAgent-URLContext", "Google", "gemini", User},
	{"Google-Gemini-CLI", "Google", "gemini", User},
	{"AzureAI-SearchBot", "Microsoft", "copilot", Search},
	{"meta-externalagent", "Meta", "meta-ai", Training},
	{"FacebookBot", "Meta", "meta-ai", Training},
	{"meta-webindexer", "Meta", "meta-ai", Search},
	{"meta-externalfetcher", "Meta", "meta-ai", User},
	{"MistralAI-User", "Mistral AI", "mistral", User},
	{"DeepSeekBot", "DeepSeek", "deepseek", Training},
	{"YouBot", "You.com", "you", Search},
	{"PhindBot", "Phind", "phind", Search},
	{"kagi-fetcher", "Kagi", "kagi", User},
	{"DuckAssistBot", "DuckDuckGo", "duck-ai", User},
	{"Andibot", "Andi", "andi", Search},
	{"Kimi-User", "Moonshot AI", "kimi", User},
	{"Bytespider", "ByteDance", "doubao", Training},
	{"TongyiBot", "Alibaba", "qwen", User},
	{"iAskBot", "iAsk", "iask", Search},
	{"iaskspider", "iAsk", "iask", Search},
	{"YiyanBot", "Baidu", "ernie", User},
	{"ChatGLM-Spider", "Zhipu AI", "chatglm", Training},

	// Others that train, or sell what models are trained on.
	{"AI2Bot", "Ai2", "", Training},
	{"Ai2Bot-Dolma", "Ai2", "", Training},
	{"aiHitBot", "aiHit", "", Training},
	{"AIWebIndex", "Lyrenth", "", Training},
	{"Amazonbot", "Amazon", "", Training},
	{"Applebot-Extended", "Apple", "", Training},
	{"Awario", "Awario", "", Training},
	{"Brightbot", "Bright Data", "", Training},
	{"CCBot", "Common Crawl Foundation", "", Training},
	{"cohere-training-data-crawler", "Cohere", "", Training},
	{"Cotoyogi", "ROIS", "", Training},
	{"CragCrawler", "CragSoftware", "", Training},
	{"Crawlspace", "Crawlspace", "", Training},
	{"Datenbank Crawler", "Datenbank", "", Training},
	{"Diffbot", "Diffbot", "", Training},
	{"EchoboxBot", "Echobox", "", Training},
	{"Factset_spyderbot", "FactSet", "", Training},
	{"FriendlyCrawler", "", "", Training},
	{"GoogleOther", "Google", "", Training},
	{"GoogleOther-Image", "Google", "", Training},
	{"GoogleOther-Video", "Google", "", Training},
	{"HenkBot", "", "", Training},
	{"ICC-Crawler", "NICT", "", Training},
	{"ImagesiftBot", "ImageSift", "", Training},
	{"imageSpider", "", "", Training},
	{"img2dataset", "", "", Training},
	{"ISSCyberRiskCrawler", "ISS-Corporate", "", Training},
	{"Kangaroo Bot", "", "", Training},
	{"KunatoCrawler", "", "", Training},
	{"laion-huggingface-processor", "LAION", "", Training},
	{"LAIONDownloader", "LAION", "", Training},
	{"MyCentralAIScraperBot", "", "", Training},
	{"NagetBot", "Naget", "", Training},
	{"netEstate Imprint Crawler", "netEstate", "", Training},
	{"omgili", "Webz.io", "", Training},
	{"omgilibot", "Webz.io", "", Training},
	{"PanguBot", "Huawei", "", Training},
	{"Panscient", "Panscient", "", Training},
	{"Poseidon Research Crawler", "Poseidon Research", "", Training},
	{"Reflectionbot", "Reflection", "", Training},
	{"SBIntuitionsBot", "SB Intuitions", "", Training},
	{"Sidetrade indexer bot", "Sidetrade", "", Training},
	{"Spawning-AI", "Spawning", "", Training},
	{"TerraCotta", "Ceramic AI", "", Training},
	{"The Knowledge AI", "", "", Training},
	{"TikTokSpider", "ByteDance", "", Training},
	{"Thinkbot", "Thinkbot", "", Training},
	{"Timpibot", "Timpi", "", Training},
	{"VelenPublicWebCrawler", "Velen", "", Training},
	{"WARDBot", "WEBSPARK", "", Training},
	{"Webzio-Extended", "Webz.io", "", Training},
	{"WRTNBot", "Wrtn", "", Training},
	{"YandexAdditional", "Yandex", "", Training},
	{"YandexAdditionalBot", "Yandex", "", Training},

	// Others that keep an index for answers.
	{"AddSearchBot", "AddSearch", "", Search},
	{"AISearchBot", "", "", Search},
	{"amazon-kendra", "Amazon", "", Search},
	{"amazon-QBusiness", "Amazon", "", Search},
	{"Amzn-SearchBot", "Amazon", "", Search},
	{"Anomura", "Direqt", "", Search},
	{"Applebot", "Apple", "", Search},
	{"Aranet-SearchBot", "", "", Search},
	{"atlassian-bot", "Atlassian", "", Search},
	{"bedrockbot", "Amazon", "", Search},
	{"Bravebot", "Brave", "", Search},
	{"Channel3Bot", "Channel3", "", Search},
	{"Cloudflare-AutoRAG", "Cloudflare", "", Search},
	{"CloudVertexBot", "Google", "", Search},
	{"ExaSearchBot", "Exa", "", Search},
	{"Google-CloudVertexBot", "Google", "", Search},
	{"LinerBot", "Liner", "", Search},
	{"LinkupBot", "Linkup", "", Search},
	{"PetalBot", "Huawei", "", Search},
	{"Querit-SearchBot", "Querit", "", Search},
	{"QueritBot", "Querit", "", Search},
	{"ShapBot", "Parallel", "", Search},
	{"TavilyBot", "Tavily", "", Search},
	{"ZanistaBot", "Zanista", "", Search},

	// Others that fetch a page for somebody.
	{"AI2Bot-DeepResearchEval", "Ai2", "", User},
	{"Amazon-Bedrock-AgentCore-Browser", "Amazon", "", User},
	{"AmazonBuyForMe", "Amazon", "", User},
	{"Amzn-User", "Amazon", "", User},
	{"ApifyBot", "Apify", "", User},
	{"ApifyWebsiteContentCrawler", "Apify", "", User},
	{"bigsur.ai", "Big Sur AI", "", User},
	{"cohere-ai", "Cohere", "", User},
	{"Crawl4AI", "", "", User},
	{"Devin", "Cognition", "", User},
	{"FirecrawlAgent", "Firecrawl", "", User},
	{"GeistHaus-PageFetcher", "GeistHaus", "", User},
	{"Google-Firebase", "Google", "", User},
	{"KlaviyoAIBot", "Klaviyo", "", User},
	{"linkReader", "GoChitChat", "", User},
	{"Lightpanda", "", "", User},
	{"Manus-User", "Butterfly Effect", "", User},
	{"Mozilla-Tabstack", "Mozilla", "", User},
	{"NovaAct", "Amazon", "", User},
	{"opencode", "", "", User},
	{"Poggio-Citations", "Poggio", "", User},
	{"QualifiedBot", "Qualified", "", User},
	{"Shap-User", "Parallel", "", User},
	{"TwinAgent", "Twin", "", User},
	{"UseAI", "", "", User},
}

// spellings are other names of crawlers.
var spellings = map[string]string{
	"KendraBot":      "amazon-kendra",
	"PerplexityUser": "Perplexity-User",
	"NotebookLM":     "Google-NotebookLM",
	"Terra Cotta":    "TerraCotta",
	"Echobot Bot":    "EchoboxBot",
	"KangarooBot":    "Kangaroo Bot",
}
