// Package useragent tells who a User-Agent is: a browser, a bot, or the crawler of an AI.
//
// Bots are those of the npm package crawler-user-agents, whose patterns are kept here (patterns.json, which a test
// compares with the pinned package), and whoever drives a browser and says so. A newer list is pinned in package.json and
// its lock, fetched by `make agents`, and taken over by `go test -update`. AI crawlers are a table of our own, since
// what one fetches a page for is what their readers want to know.
package useragent

import (
	"fmt"
	"strings"

	"github.com/maypok86/otter/v2"
)

// An Agent is what is known of a User-Agent.
type Agent struct {
	Bot     bool     // nobody looks at the page
	Name    string   // of the bot, out of a fixed set; "" of a browser
	Crawler *Crawler // set when the bot fetches for an AI; shared, not to be changed
}

// Agents remembers the agents that it was asked about last. It is safe for concurrent use.
type Agents struct {
	known *otter.Cache[string, Agent]
}

const (
	most    = 16_384 // agents remembered: a busy site sees some thousands of them a day
	longest = 512    // bytes of an agent that is remembered, so that a stranger fills some 10 MB and no more
)

// New returns Agents that remember nothing yet. The patterns are made ready on the first call, which takes some
// milliseconds.
func New() *Agents {
	patterns()
	known, err := otter.New(&otter.Options[string, Agent]{MaximumSize: most})
	if err != nil {
		panic(fmt.Errorf("make cache of agents: %w", err)) // its options are constants
	}
	return &Agents{known}
}

// Look tells who ua is. It keeps a copy of ua, which may be a view of a buffer that the caller uses again.
func (a *Agents) Look(ua string) Agent {
	if agent, ok := a.known.GetIfPresent(ua); ok {
		return agent
	}
	agent := look(ua)
	if len(ua) <= longest {
		a.known.Set(strings.Clone(ua), agent)
	}
	return agent
}

func look(ua string) Agent {
	crawler, bot := patterns().look(ua)
	if crawler != nil {
		return Agent{Bot: true, Name: crawler.Name, Crawler: crawler}
	}
	return Agent{Bot: bot != "", Name: bot}
}
