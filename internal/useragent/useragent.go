// Package useragent classifies User-Agents: browsers, bots, and the crawlers of AI platforms.
//
// Bots are those of the npm package crawler-user-agents (patterns.json, which a test compares with the pinned package)
// and programs that drive a browser. To take a newer list over: pin it in package.json and its lock, `make agents`,
// `go test -update`. AI crawlers are a table of our own, since it has to say what each one fetches pages for.
package useragent

import (
	_ "embed"
	"slices"
)

// An Agent is what is known of a User-Agent.
type Agent struct {
	Bot     bool
	Crawler *Crawler // set when the bot is an AI crawler; shared, not to be changed
}

// Look classifies a User-Agent, of which it keeps nothing. The first call reads the patterns, which takes some
// milliseconds; every other one takes well below a microsecond, so no result is cached.
func Look(ua string) Agent {
	crawler, bot := patterns().look(ua)
	return Agent{Bot: bot || crawler != nil, Crawler: crawler}
}

// CrawlerOf returns the AI crawler that a User-Agent names; not ok for browsers and for other bots.
func CrawlerOf(ua string) (crawler Crawler, ok bool) {
	if found, _ := patterns().look(ua); found != nil {
		return *found, true
	}
	return Crawler{}, false
}

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
func Crawlers() []Crawler { return slices.Clone(crawlers) }

//go:embed crawlers.tsv
var crawlersFile string

// crawlers are known by their names, in any case, where no letter, digit or underscore touches them. The longest name
// of an agent counts: Applebot-Extended is not Applebot. Operators and purposes are those that the operators publish
// or, where they do not, those of ai-robots-txt/ai.robots.txt. spellings are other names, each with the crawler's own.
var crawlers, spellings = readCrawlers(crawlersFile)

// readCrawlers reads rows of name, operator, platform, purpose and other spellings.
func readCrawlers(text string) (all []Crawler, spellings map[string]string) {
	spellings = map[string]string{}
	for row := range rows(text) {
		all = append(all, Crawler{row[0], row[1], row[2], Purpose(row[3])})
		for _, spelling := range row[4:] {
			spellings[spelling] = row[0]
		}
	}
	return all, spellings
}
