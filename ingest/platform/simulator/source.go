package simulator

import (
	"fmt"
	"math/rand/v2"

	"github.com/answerscope/answerscope/ingest/event"
)

// foreignPages lists pages of other sites. A host that has a source type is real, and the path shows that the page is
// not; the others are of reserved domains.
var foreignPages = []struct{ host, path, title string }{
	{"www.reddit.com", "/r/simulated/comments/%d/", "Simulated thread %d"},
	{"www.reddit.com", "/r/simulated/comments/%d/?utm_source=simulator", "Simulated thread %d"},
	{"www.quora.com", "/simulated-question-%d", "Simulated question %d"},
	{"www.youtube.com", "/watch?v=simulated%d", "Simulated video %d"},
	{"www.trustpilot.com", "/review/simulated-%d.example", "Simulated reviews %d"},
	{"www.nist.gov", "/simulated/report-%d", "Simulated report %d"},
	{"tests.simulated.example", "/ranking-%d.html", "Simulated ranking %d"},
	{"magazine.simulated.example", "/2026/guide-%d/#top", "Simulated guide %d"},
	{"daily-news.example", "/life/simulated-article-%d", "Simulated article %d"},
	{"blog.weekend-notes.example", "/simulated-post-%d?ref=home", "Simulated post %d"},
}

// elsewhere is a page of neither the brand nor a competitor.
func elsewhere(c *rand.Rand) event.Citation {
	p := pick(c, foreignPages)
	n := 1 + c.IntN(9)
	return event.Citation{URL: fmt.Sprintf("https://"+p.host+p.path, n), Title: fmt.Sprintf(p.title, n), Cited: true}
}

// Pages lists the paths of an entity's site that answers cite and visitors land on.
var Pages = []string{"/", "/products", "/products/new?utm_source=simulator", "/support/warranty", "/stories/how-it-is-made/"}

// own is a page under one of the entity's domains.
func own(c *rand.Rand, e event.Entity) event.Citation {
	path := pick(c, Pages)
	host := pick(c, []string{"www.", "", "", "shop."}) + pick(c, e.Domains)
	return event.Citation{URL: "https://" + host + path, Title: e.Name + " (simulated page)", Cited: true}
}
