package event

import (
	"fmt"
	"strings"
	"time"
)

// The bounds of a record before it is appended, in bytes and in items. They are wide: they keep out what is no brand's
// name or no answer's text, and with MaxValueBytes they bound what a record costs every reader.
const (
	MaxText    = 4 << 20  // an answer's text
	MaxPrompt  = 32 << 10 // a prompt's text, a search query
	MaxURL     = 32 << 10
	MaxTitle   = 4 << 10 // a title, an error, a visit's path
	MaxName    = 512     // a name, an alias, a model
	MaxHost    = 253
	MaxLabel   = 64  // a slug, region, language, session, time zone
	MaxNames   = 256 // aliases or domains of one entity
	MaxRivals  = 512 // competitors
	MaxSources = 4096
	MaxCards   = 1024
)

// Check says whether a may be appended at now: the rules of Decode, the bounds, and the clock. The error joins a
// MalformedError for each of the first ten problems, and says how many more there are. (EncodeAnswer refuses a record
// that is too large as a whole.)
func (a *Answer) Check(now time.Time) error {
	var p problems
	a.validate(&p)
	p.present("answered_at", a.AnsweredAt, now)
	p.entity("brand.", &a.Brand.Entity)
	p.most("competitors", len(a.Competitors), MaxRivals)
	for i := range a.Competitors {
		p.in("competitors", i).entity("", &a.Competitors[i])
	}
	p.in("", 0)
	p.text("prompt.text", a.Prompt.Text, MaxPrompt)
	p.slug("platform", a.Platform)
	p.text("model", a.Model, MaxName)
	p.text("served_model", a.ServedModel, MaxName)
	p.text("region", a.Region, MaxLabel)
	p.text("language", a.Language, MaxLabel)
	p.text("text", a.Text, MaxText)
	p.most("citations", len(a.Citations), MaxSources)
	p.texts("search_queries", a.SearchQueries, MaxSources, MaxPrompt)
	p.most("products", len(a.Products), MaxCards)
	if a.GivenUp != nil {
		p.text("given_up.error", a.GivenUp.Error, MaxTitle)
	}
	for i := range a.Citations {
		p.in("citations", i).text("url", a.Citations[i].URL, MaxURL)
		p.text("title", a.Citations[i].Title, MaxTitle)
	}
	for i := range a.Products {
		p.in("products", i).product(&a.Products[i])
	}
	return p.err()
}

// Check says whether v may be appended at now, as Answer.Check.
func (v *Visit) Check(now time.Time) error {
	var p problems
	v.validate(&p)
	p.present("at", v.At, now)
	p.slug("platform", v.Platform)
	p.text("host", v.Host, MaxHost)
	p.text("path", v.Path, MaxTitle)
	p.text("referrer_host", v.ReferrerHost, MaxHost)
	p.text("language", v.Language, MaxLabel)
	p.text("screen", v.Screen, MaxLabel)
	p.text("time_zone", v.TimeZone, MaxLabel)
	p.text("session", v.Session, MaxLabel)
	if v.Goal != nil {
		p.text("goal.name", v.Goal.Name, MaxName)
	}
	return p.err()
}

// Check says whether c may be appended at now, as Answer.Check.
func (c *Crawl) Check(now time.Time) error {
	var p problems
	c.validate(&p)
	p.present("at", c.At, now)
	p.text("crawler", c.Crawler, MaxName)
	p.text("operator", c.Operator, MaxName)
	p.slug("platform", c.Platform)
	p.text("host", c.Host, MaxHost)
	p.text("path", c.Path, MaxTitle)
	return p.err()
}

func (p *problems) entity(prefix string, e *Entity) {
	p.text(prefix+"name", e.Name, MaxName)
	p.texts(prefix+"aliases", e.Aliases, MaxNames, MaxName)
	p.most(prefix+"domains", len(e.Domains), MaxNames)
	for i, host := range e.Domains {
		if host == "" || len(host) > MaxHost || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" {
			p.add(fmt.Sprintf("%sdomains[%d]", prefix, i), "a host in lower case and punycode, got %.80q", host)
		}
	}
}

func (p *problems) product(c *Product) {
	p.text("title", c.Title, MaxTitle)
	p.text("brand", c.Brand, MaxName)
	p.text("url", c.URL, MaxURL)
	p.text("image_url", c.ImageURL, MaxURL)
	p.currency("price_currency", c.PriceCurrency)
}
