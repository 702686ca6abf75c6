package demo

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
)

// Site is a brand's site in a period.
type Site struct {
	OrganizationID uuid.UUID
	Brand          event.Entity // with a domain
	From           time.Time    // the first day, UTC
	Until          time.Time    // later visits and crawls are left out
}

// Visits yields the visits that AI platforms sent, day by day: the views of each session, and sometimes a goal. A visit
// does not depend on From and Until.
func (site Site) Visits(s *simulator.Simulator) iter.Seq[event.Visit] {
	return func(yield func(event.Visit) bool) {
		for date := day(site.From); date.Before(site.Until); date = date.AddDate(0, 0, 1) {
			for n := range sessions(s, site.Brand, date) {
				for _, v := range site.session(s, date, n) {
					if !v.At.After(site.Until) && !yield(v) {
						return
					}
				}
			}
		}
	}
}

// sessions returns how many sessions begin on a day: fewer at weekends, more while answers name the brand more often.
func sessions(s *simulator.Simulator, brand event.Entity, date time.Time) int {
	c := s.Chance("sessions", brand.ID.String(), date.Format(time.DateOnly))
	n := (30 + 20*c.Float64()) * (0.5 + s.Visibility(brand, platform.Question{Model: simulator.Models[0], Due: date}))
	if weekday := date.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		n *= 0.6
	}
	return int(n)
}

// senders lists the platforms, weighted by the percentage of visits that each sends.
var senders = []sender{
	{"chatgpt", "chatgpt.com", 54}, {"perplexity", "www.perplexity.ai", 18}, {"gemini", "gemini.google.com", 11},
	{"copilot", "copilot.microsoft.com", 9}, {"claude", "claude.ai", 6}, {"grok", "grok.com", 2},
}

type sender struct {
	platform, host string
	weight         int
}

// origins lists where visitors come from. One in ten has an unknown country.
var origins = []origin{
	{"US", "America/New_York", "en-US", "USD", 38}, {"GB", "Europe/London", "en-GB", "GBP", 15},
	{"DE", "Europe/Berlin", "de-DE", "EUR", 13},
	{"FR", "Europe/Paris", "fr-FR", "EUR", 9}, {"ES", "Europe/Madrid", "es-ES", "EUR", 5},
	{"JP", "Asia/Tokyo", "ja-JP", "JPY", 5},
	{"KR", "Asia/Seoul", "ko-KR", "KRW", 3}, {"SA", "Asia/Riyadh", "ar-SA", "SAR", 2}, {"", "", "en-US", "USD", 10},
}

type origin struct {
	country, zone, language, currency string
	weight                            int
}

// innerPages lists pages that visitors open next.
var innerPages = []string{"/products", "/products/rain-jacket", "/products/tent-two", "/products/backpack-40",
	"/cart", "/about"}

// session returns the visits of the n-th session that begins on a day.
func (site Site) session(s *simulator.Simulator, date time.Time, n int) []event.Visit {
	c := s.Chance("session", site.Brand.ID.String(), date.Format(time.DateOnly), fmt.Sprint(n))
	sent := weighted(c, senders, func(s sender) int { return s.weight })
	from := weighted(c, origins, func(o origin) int { return o.weight })
	v := event.Visit{
		V: event.Version, OrganizationID: site.OrganizationID, BrandID: site.Brand.ID, Event: event.VisitView,
		Platform: sent.platform, PlatformBy: "referrer", ReferrerHost: sent.host, Country: from.country,
		Language: from.language, TimeZone: from.zone,
		Screen:  pick(c, []string{"1920x1080", "1440x900", "390x844", "412x915"}),
		Session: fmt.Sprintf("%016x", c.Uint64()), NewSession: true, Visitor: c.Uint64(), Simulated: true,
		Host: pick(c, []string{"", "", "", "shop."}) + site.Brand.Domains[0],
	}
	if from.country != "" {
		v.CountryBy = "time_zone"
	}
	if c.IntN(5) == 0 { // from an app, which has no referrer
		v.PlatformBy, v.ReferrerHost = "utm", ""
	}
	v.Path, _, _ = strings.Cut(pick(c, simulator.Pages), "?")
	at := date.Add(time.Duration(c.Int64N(int64(24 * time.Hour))))
	visits := []event.Visit{visitAt(c, v, at)}
	v.NewSession, v.PlatformBy, v.ReferrerHost = false, "session", v.Host
	for c.IntN(5) < 2 {
		at = at.Add(time.Duration(5+c.IntN(120)) * time.Second)
		v.Path = pick(c, innerPages)
		visits = append(visits, visitAt(c, v, at))
	}
	if goal := goalOf(c, from.currency); goal != nil {
		v.Event, v.Goal = event.VisitGoal, goal
		visits = append(visits, visitAt(c, v, at.Add(time.Duration(10+c.IntN(300))*time.Second)))
	}
	return visits
}

// goalOf draws the goal of a session, mostly none.
func goalOf(c *rand.Rand, currency string) *event.Goal {
	switch drawn := c.IntN(100); {
	case drawn < 5:
		return &event.Goal{Name: "purchase", Value: fmt.Sprintf("%d.%02d", 20+c.IntN(300), c.IntN(100)),
			Currency: currency}
	case drawn < 12:
		return &event.Goal{Name: "newsletter"}
	}
	return nil
}

// visitAt returns v at an instant, with an id in the layout of UUIDv7 (RFC 9562 §5.7) whose random part is drawn.
func visitAt(c *rand.Rand, v event.Visit, at time.Time) event.Visit {
	v.At = event.At(at)
	ms := uint64(v.At.UnixMilli())
	for i := range 6 {
		v.ID[i] = byte(ms >> (40 - 8*i))
	}
	for i := 6; i < len(v.ID); i++ {
		v.ID[i] = byte(c.Uint32())
	}
	v.ID.SetVersion(uuid.V7)
	v.ID.SetVariant(uuid.VariantRFC9562)
	return v
}

// weighted returns one of items, each as likely as its weight.
func weighted[T any](c *rand.Rand, items []T, weight func(T) int) T {
	sum := 0
	for _, item := range items {
		sum += weight(item)
	}
	drawn := c.IntN(sum)
	for _, item := range items {
		if drawn -= weight(item); drawn < 0 {
			return item
		}
	}
	return items[len(items)-1]
}

func pick[T any](c *rand.Rand, items []T) T { return items[c.IntN(len(items))] }
