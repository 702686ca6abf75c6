// Package useragent classifies User-Agents: browsers, bots, and the crawlers of AI platforms.
//
// Bots are those of the npm package crawler-user-agents (patterns.json, which a test compares with the pinned package)
// and programs that drive a browser. To take a newer list over: pin it in package.json and its lock, `make agents`,
// `go test -update`. AI crawlers are a table of our own, since it has to say what each one fetches pages for.
package useragent

// An Agent is what is known of a User-Agent.
type Agent struct {
	Bot     bool
	Name    string   // of the bot, out of a fixed set; "" of a browser
	Crawler *Crawler // set when the bot is an AI crawler; shared, not to be changed
}

// Look classifies a User-Agent, of which it keeps nothing. The first call reads the patterns, which takes some
// milliseconds; every other one takes well below a microsecond, so no result is cached.
func Look(ua string) Agent {
	crawler, bot := patterns().look(ua)
	if crawler != nil {
		return Agent{Bot: true, Name: crawler.Name, Crawler: crawler}
	}
	return Agent{Bot: bot != "", Name: bot}
}

// CrawlerOf returns the AI crawler that a User-Agent names; not ok for browsers and for other bots.
func CrawlerOf(ua string) (crawler Crawler, ok bool) {
	if found, _ := patterns().look(ua); found != nil {
		return *found, true
	}
	return Crawler{}, false
}
