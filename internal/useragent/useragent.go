// Package useragent classifies User-Agents: browsers, bots, and the crawlers of AI platforms.
//
// Bots come from the npm package crawler-user-agents (patterns.json, which a test compares with the pinned package),
// and programs that drive a browser are added. To update the list: pin it in package.json and its lock, `make agents`,
// `go test -update`. AI crawlers are a table of our own, with the purpose of each; `make crawlers ROBOTS=robots.json`
// adds those that the list ai-robots-txt/ai.robots.txt has in addition.
package useragent

import (
	_ "embed"
	"slices"
)

// An Agent is the class of a User-Agent.
type Agent struct {
	Bot     bool
	Crawler *Crawler // set when the bot is an AI crawler; shared, not to be changed
}

// Look classifies a User-Agent, and retains nothing of it. The first call reads the patterns, which takes some
// milliseconds; every other one takes well below a microsecond, so no result is cached.
func Look(ua string) Agent {
	crawler, bot, _ := patterns().look(ua)
	return Agent{Bot: bot || crawler != nil, Crawler: crawler}
}

// CrawlerOf returns the AI crawler that a User-Agent names; not ok for browsers and for other bots.
func CrawlerOf(ua string) (crawler Crawler, ok bool) {
	if crawler, _, _ := patterns().look(ua); crawler != nil {
		return *crawler, true
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

// Crawlers returns all crawlers, beginning with platforms that send visits.
func Crawlers() []Crawler { return slices.Clone(crawlers) }

//go:embed crawlers.tsv
var crawlersFile string

// crawlers are known by their names, in any case, where no letter, digit or underscore touches them. The longest name
// of an agent counts: Applebot-Extended is not Applebot. Operators and purposes are as the operators publish them, or
// else as ai-robots-txt/ai.robots.txt has them. spellings are other names, each with the crawler's own.
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
