package event

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The bounds of a record before it is appended, in bytes and in items. They are
// wide: they keep out what is no brand's name or no answer's text, and with
// MaxRecordBytes they bound what one record costs everyone behind the log.
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

// future is how far ahead of this machine's clock another one may be.
const future = 24 * time.Hour

// Check says whether a may be appended at now: the laws of Decode, the bounds,
// and the clock. The error joins a MalformedError for each of the first ten
// things that are wrong, and says how many more there are. (A record that is too
// large as a whole is refused by EncodeAnswer.)
func (a *Answer) Check(now time.Time) error {
	var p problems
	a.law(&p)
	p.present("answered_at", a.AnsweredAt, now)
	p.entity("brand", &a.Brand.Entity)
	p.most("competitors", len(a.Competitors), MaxRivals)
	for i := range a.Competitors {
		p.entity(fmt.Sprintf("competitors[%d]", i), &a.Competitors[i])
	}
	p.text("prompt.text", a.Prompt.Text, MaxPrompt)
	p.slug("platform", a.Platform)
	p.text("model", a.Model, MaxName)
	p.text("served_model", a.ServedModel, MaxName)
	p.text("region", a.Region, MaxLabel)
	p.text("language", a.Language, MaxLabel)
	p.text("text", a.Text, MaxText)
	p.most("citations", len(a.Citations), MaxSources)
	for i := range a.Citations {
		p.textAt("citations", i, "url", a.Citations[i].URL, MaxURL)
		p.textAt("citations", i, "title", a.Citations[i].Title, MaxTitle)
	}
	p.most("search_queries", len(a.SearchQueries), MaxSources)
	for i, q := range a.SearchQueries {
		p.textAt("search_queries", i, "", q, MaxPrompt)
	}
	p.most("products", len(a.Products), MaxCards)
	for i := range a.Products {
		p.product(i, &a.Products[i])
	}
	if a.GivenUp != nil {
		p.text("given_up.error", a.GivenUp.Error, MaxTitle)
	}
	return p.err()
}

// Check says whether v may be appended at now, as Answer.Check.
func (v *Visit) Check(now time.Time) error {
	var p problems
	v.law(&p)
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
	c.law(&p)
	p.present("at", c.At, now)
	p.text("crawler", c.Crawler, MaxName)
	p.text("operator", c.Operator, MaxName)
	p.slug("platform", c.Platform)
	p.text("host", c.Host, MaxHost)
	p.text("path", c.Path, MaxTitle)
	return p.err()
}

func (p *problems) present(field string, t Time, now time.Time) {
	if t.After(now.Add(future)) {
		p.add(field, "a time up to a day from now, %s, got %s", At(now), t)
	}
}

func (p *problems) entity(field string, e *Entity) {
	p.text(field+".name", e.Name, MaxName)
	p.most(field+".aliases", len(e.Aliases), MaxNames)
	for i, alias := range e.Aliases {
		p.textAt(field+".aliases", i, "", alias, MaxName)
	}
	p.most(field+".domains", len(e.Domains), MaxNames)
	for i, host := range e.Domains {
		if host == "" || len(host) > MaxHost || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" {
			p.addAt(field+".domains", i, "", "a host in lower case and punycode, got %.80q", host)
		}
	}
}

func (p *problems) product(i int, c *Product) {
	p.textAt("products", i, "title", c.Title, MaxTitle)
	p.textAt("products", i, "brand", c.Brand, MaxName)
	p.textAt("products", i, "url", c.URL, MaxURL)
	p.textAt("products", i, "image_url", c.ImageURL, MaxURL)
	if !upper(c.PriceCurrency, 3) {
		p.currency(fmt.Sprintf("products[%d].price_currency", i), c.PriceCurrency)
	}
}

func (p *problems) text(field, s string, most int) {
	switch {
	case len(s) > most:
		p.add(field, "at most %d bytes, got %d", most, len(s))
	case !utf8.ValidString(s):
		p.add(field, "valid UTF-8")
	}
}

// textAt is text for an item's field; the path is put together only when it is needed.
func (p *problems) textAt(list string, i int, field, s string, most int) {
	if len(s) > most || !utf8.ValidString(s) {
		p.text(place(list, i, field), s, most)
	}
}

func (p *problems) most(field string, n, most int) {
	if n > most {
		p.add(field, "at most %d, got %d", most, n)
	}
}

func (p *problems) slug(field, s string) {
	if len(s) > MaxLabel || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		p.add(field, "a slug: up to %d lower-case letters, digits, - _ and ., got %.80q", MaxLabel, s)
	}
}
