package useragent

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/collector/referral"
)

// Every crawler is known by its name, in any case and company, and by nothing that only contains it.
func TestEveryCrawler(t *testing.T) {
	names := map[string]bool{}
	for _, want := range crawlers {
		if key := strings.ToLower(want.Name); names[key] {
			t.Errorf("%s has two rows", want.Name)
		} else {
			names[key] = true
		}
		if want.Platform != "" && !referral.Known(want.Platform) {
			t.Errorf("%s works for %q, which sends no visits", want.Name, want.Platform)
		}
		if want.Platform != "" && want.Operator == "" ||
			!slices.Contains([]Purpose{Training, Search, User}, want.Purpose) {
			t.Errorf("%+v: without an operator or a purpose", want)
		}
		spelled := []string{want.Name, strings.ToUpper(want.Name), strings.ToLower(want.Name)}
		for spelling, name := range spellings {
			if name == want.Name {
				spelled = append(spelled, spelling)
			}
		}
		for _, name := range spelled {
			for _, ua := range []string{name, name + "/1.2",
				"Mozilla/5.0 (compatible; " + name + "/1.0; +https://operator.example/bot)",
				"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible;" + name, "é " + name + "-x"} {
				if got, ok := CrawlerOf(ua); !ok || got != want {
					t.Errorf("%q is %+v, want %+v", ua, got, want)
				}
			}
			for _, ua := range []string{
				"x" + name, name + "x", "_" + name, name + "2", "é" + name, name[1:], name[:len(name)-1],
			} {
				// which NotebookLM stands in
				if got, ok := CrawlerOf(ua); ok && got == want &&
					!strings.HasSuffix(strings.ToLower(name), "-notebooklm") {
					t.Errorf("%q is %+v", ua, got)
				}
			}
		}
	}
	for spelling, name := range spellings {
		if !names[strings.ToLower(name)] || names[strings.ToLower(spelling)] {
			t.Errorf("%s is a spelling of %s: there is no such row, or one of its own", spelling, name)
		}
	}
}

// What the operators themselves send.
func TestCrawlerOf(t *testing.T) {
	for ua, want := range map[string]Crawler{
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; " +
			"+https://openai.com/gptbot)": {"GPTBot", "OpenAI", "chatgpt", Training},
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 " +
			"Safari/537.36; compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot": {"OAI-SearchBot", "OpenAI",
			"chatgpt", Search},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; " +
			"+https://openai.com/bot": {"ChatGPT-User", "OpenAI", "chatgpt", User},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; " +
			"+claudebot@anthropic.com)": {"ClaudeBot", "Anthropic", "claude", Training},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Claude-User/1.0; " +
			"+Claude-User@anthropic.com)": {"Claude-User", "Anthropic", "claude", User},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; PerplexityBot/1.0; " +
			"+https://perplexity.ai/perplexitybot)": {"PerplexityBot", "Perplexity", "perplexity", Search},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; " +
			"+https://perplexity.ai/perplexity-user)": {"Perplexity-User", "Perplexity", "perplexity", User},
		"meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/" +
			"webmasters/crawler)": {"meta-externalagent", "Meta", "meta-ai", Training},
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 " +
			"Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)": {"Applebot", "Apple", "", Search},
		"Mozilla/5.0 (compatible; Applebot-Extended/0.1; +http://www.apple.com/go/applebot)": {"Applebot-Extended",
			"Apple", "", Training},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; MistralAI-Index/1.0; " +
			"+https://docs.mistral.ai/robots)": {"MistralAI-Index", "Mistral AI", "mistral", Search},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; MistralAI-Training/1.0; " +
			"+https://docs.mistral.ai/robots)": {"MistralAI-Training", "Mistral AI", "mistral", Training},
		"Mozilla/5.0 (compatible; KimiBot/1.0; +https://www.kimi.ai/policies/kimi-crawlers)": {"KimiBot",
			"Moonshot AI", "kimi", Training},
		"Mozilla/5.0 (compatible; Kimi-SearchBot/1.0; +https://www.kimi.ai/policies/kimi-crawlers)": {"Kimi-SearchBot",
			"Moonshot AI", "kimi", Search},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; OAI-AdsBot/1.0; " +
			"+https://openai.com/adsbot": {"OAI-AdsBot", "OpenAI", "chatgpt", Search},
		"Google-GeminiNotebook": {"Google-GeminiNotebook", "Google", "gemini", User},
		"openai-mcp/1.0.0":      {"openai-mcp", "OpenAI", "chatgpt", User},
		"Mozilla/5.0 (compatible; xAI-Bot/1.0; +https://x.ai/bots/)": {"xAI-Bot", "xAI", "grok", Training},
		"CCBot/2.0 (https://commoncrawl.org/faq/)": {"CCBot",
			"Common Crawl Foundation", "", Training},
		"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; " +
			"Bytespider; spider-feedback@bytedance.com)": {"Bytespider", "ByteDance", "doubao", Training},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Gemini-Deep-Research; " +
			"+https://gemini.google/overview/deep-research/) Chrome/135.0.0.0 Safari/537.36": {"Gemini-Deep-Research",
			"Google", "gemini", User},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; MistralAI-User/1.0; " +
			"+https://docs.mistral.ai/robots)": {"MistralAI-User", "Mistral AI", "mistral", User},
		"DuckAssistBot/1.2; (+http://duckduckgo.com/duckassistbot.html)": {"DuckAssistBot", "DuckDuckGo", "duck-ai",
			User},
		"Mozilla/5.0 (compatible; GoogleOther-Image/1.0; " +
			"+https://developers.google.com/search/docs/crawling-indexing/" +
			"google-common-crawlers#googleother)": {"GoogleOther-Image", "Google", "", Training},
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amazonbot/0.1; " +
			"+https://developer.amazon.com/support/amazonbot) Chrome/119.0.6045.214 Safari/537.36 (uses " +
			"GPTBot's manner)": {"Amazonbot", "Amazon", "", Training},
	} {
		if got, ok := CrawlerOf(ua); !ok || got != want {
			t.Errorf("%q is %+v, want %+v", ua, got, want)
		}
	}
	for _, ua := range append(browsers, "",
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "curl/8.9.1",
		"facebookexternalhit/1.1",
		"Mozilla/5.0 (compatible; Exabot/3.0; +http://www.exabot.com/go/robot)",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)") {
		if got, ok := CrawlerOf(ua); ok {
			t.Errorf("%q is %+v", ua, got)
		}
	}
}

// leftOut are names that lists of AI crawlers have and we do not.
var leftOut = map[string]string{
	"AgentTimes": "reads feeds for a newspaper", "BuddyBot": "unknown",
	"LCC":  "a university's corpus; three letters that are anything else too",
	"Code": "an editor with a browser in it", "Cursor": "the same", "Trae": "the same",
	"Operator": "a word that many agents have", "OpenAI": "the same", "Spider": "the same",
	"ExaBot": "but for one letter's case it is Exabot, which was a search engine", "YaK": "reads social networks",
	"facebookexternalhit": "fetches previews of links that people share",
	"Scrapy":              "a program that anybody runs", "Linguee Bot": "a dictionary",
	"QuillBot": "checks texts for their writers", "quillbot.com": "the same", "wpbot": "a site's own chat",
	"SemrushBot-OCOB": "an editor's own site", "SemrushBot-SWA": "the same", "newsai": "unknown",
	`newsai\/`: "the same", `Spider[\s\S]*spider\.com`: "unknown",
	"ExteContextCrawl": "places advertisements", "Flyriverbot": "measures readers", "semantic-visions": "watches news",
	"TaraGroup Intelligent Bot": "unknown",
	"TSM-turingos":              "unknown", "ImageMind": "unknown", "Novellum": "unknown",
	"AISearchBot": "has no example",
}

// The package marks patterns as AI crawlers: each is in our table, or left out with a reason.
func TestCrawlersOfThePackage(t *testing.T) {
	marked := 0
	for _, e := range entries(t) {
		if !slices.Contains(e.Tags, "ai-crawler") || leftOut[e.Pattern] != "" {
			continue
		}
		marked++
		for _, ua := range e.Instances {
			if _, ok := CrawlerOf(ua); !ok {
				t.Errorf("%q, of %s, is not a crawler of the table", ua, e.Pattern)
			}
		}
	}
	if marked < 50 {
		t.Errorf("%d patterns are marked: the package's tags have changed", marked)
	}
}

// robots is what ai-robots-txt/ai.robots.txt lists, kept beside the repository and not in it.
var robots = flag.String("robots", "../../../shared/data/ai-robots-txt-robots.json", "robots.json of ai.robots.txt")

// With -update, `make crawlers` adds a row for each name that is neither in the table nor left out with a reason.
func TestCrawlersOfRobots(t *testing.T) {
	if _, err := os.Stat(*robots); err != nil {
		t.Logf("LEFT OUT: there is no %s, nothing was compared", *robots)
		return
	}
	var listed map[string]listing
	read(t, *robots, &listed)
	renewed := crawlersFile
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if _, ok := CrawlerOf(name + "/1.0"); !ok && leftOut[name] == "" {
			renewed = withRow(renewed, name, listed[name])
			if !*update {
				t.Errorf("%s is not a crawler of the table", name)
			}
		}
	}
	if *update && renewed != crawlersFile {
		if err := os.WriteFile("crawlers.tsv", []byte(renewed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// listing is what robots.json says of a crawler, in words.
type listing struct{ Operator, Function string }

var link = regexp.MustCompile(`^\[([^]]+)\]`)

// withRow adds a row at the end of the section of its purpose, which the list has in words only: review the difference,
// and move crawlers of platforms that send visits to theirs.
func withRow(file, name string, l listing) string {
	operator := ""
	if match := link.FindStringSubmatch(l.Operator); match != nil {
		operator = match[1]
	}
	purpose, section := Training, "# Others that train"
	switch function := strings.ToLower(l.Function); {
	case strings.Contains(function, "search"):
		purpose, section = Search, "# Others that keep an index"
	case strings.Contains(function, "assist"), strings.Contains(function, "agent"), strings.Contains(function, "user"):
		purpose, section = User, "# Others that fetch a page"
	}
	before, rest, _ := strings.Cut(file, section)
	rows, after, isLast := strings.Cut(rest, "\n\n")
	row := fmt.Sprintf("%s\t%s\t\t%s", name, operator, purpose)
	if rows = strings.TrimSuffix(rows, "\n") + "\n" + row + "\n"; isLast {
		rows += "\n"
	}
	return before + section + rows + after
}

func TestANewCrawlerOfRobotsGetsARow(t *testing.T) {
	text := crawlersFile
	for _, c := range []struct{ operator, function, row string }{
		{"[Owner](https://owner.example)", "AI Search Crawlers", "NewBot1\tOwner\t\tsearch"},
		{"Unclear at this time.", "AI Assistants", "NewBot2\t\t\tuser"},
		{"[Owner](https://owner.example)", "LLM training.", "NewBot3\tOwner\t\ttraining"},
	} {
		name, _, _ := strings.Cut(c.row, "\t")
		text = withRow(text, name, listing{c.operator, c.function})
		if !strings.Contains(text, "\n"+c.row+"\n") {
			t.Errorf("no row %q in\n%s", c.row, text)
		}
	}
	if all, _ := readCrawlers(text); len(all) != len(crawlers)+3 {
		t.Errorf("%d crawlers, want 3 more than %d", len(all), len(crawlers))
	}
}

// A bot that no list names is told by its name, so that a new crawler leaves a trace; browsers and known bots are not.
func TestUnlisted(t *testing.T) {
	for ua, want := range map[string]string{
		"Mozilla/5.0 (compatible; NovelBot/1.0; +https://novel.example/bot)": "NovelBot",
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Novel-Index/1.0; " +
			"+https://novel.example)": "Novel-Index",
		"Google-GeminiNovel": "Google-GeminiNovel", "openai-novel/1.0.0": "openai-novel",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 " +
			"Safari/537.36; compatible; Claude-Novel/1.3": "Claude-Novel",
		"GPTBot/1.3": "", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": "",
		"curl/8.9.1": "", "": "", "-": "",
	} {
		if name, ok := Unlisted(ua); name != want || ok != (want != "") {
			t.Errorf("%q is %q (%v), want %q", ua, name, ok, want)
		}
	}
	for _, ua := range browsers {
		if name, ok := Unlisted(ua); ok {
			t.Errorf("%q is %q", ua, name)
		}
	}
}
