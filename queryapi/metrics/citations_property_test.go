package metrics

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/naive"
)

// What answers cite and their cards, of random answers of which many are read again otherwise, some twice. Few hosts,
// paths and instants make ties, shared domains and answers that cite a domain twice frequent.
func TestCitationsAndCardsEqualThePlainestComputation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, seed := range seeds(t, 0) {
		t.Run(fmt.Sprintf("sources_%d", seed), func(t *testing.T) {
			st := s.stage(t)
			random := rand.New(rand.NewPCG(seed, 2))
			st.addRivals(t, []string{"Glow", "Beam", "Dusk"})
			facts := make([]answerFact, 30+random.IntN(200))
			for i := range facts {
				facts[i] = randomSources(random)
			}
			readings := st.readingsInOrder(t, facts)
			st.addFacts(t, facts...)
			st.compareSources(t, random, readings)
			for range 2 {
				st.readOtherwise(t, random, facts, readings)
				st.compareSources(t, random, readings)
			}
			st.exec(t, "OPTIMIZE TABLE citation_daily FINAL")
			st.compareSources(t, random, readings)
		})
	}
}

// readOtherwise corrects some of the answers.
func (s *stage) readOtherwise(t *testing.T, random *rand.Rand, facts []answerFact, readings []naive.Reading) {
	t.Helper()
	var corrected []answerFact
	for i := range facts {
		f := randomSources(random)
		if facts[i].GivenUp != "" || f.GivenUp != "" || facts[i].NotShown || f.NotShown || random.IntN(3) == 0 {
			continue // a run ends once
		}
		// What a reading decides differs; what the platform was asked, and when it answered, does not.
		facts[i].Cites, facts[i].Titles, facts[i].Consults, facts[i].Products = f.Cites, f.Titles, f.Consults,
			f.Products
		facts[i].Text, facts[i].Branded, facts[i].Corrects = f.Text, f.Branded, i+1
		corrected = append(corrected, facts[i])
		readings[i] = s.reading(t, facts[i])
	}
	s.correct(t, corrected...)
}

func randomSources(random *rand.Rand) answerFact {
	f := randomFact(random)
	f.Cites, f.Products = nil, nil
	f.On = time.Date(2026, 2, 20+random.IntN(40), random.IntN(2), 0, 0, 0, time.UTC).Format(time.RFC3339)
	if f.GivenUp != "" || f.NotShown {
		return f
	}
	source := func() string {
		return pick(random, "https://", "http://", "HTTPS://www.") +
			pick(random, "lumen.example", "shop.lumen.example", "rival0.example", "rival1.example/x", "other.example",
				"blog.other.example", "reddit.com", "old.reddit.com",
				"x.com", "trustpilot.com", "nasa.gov",
				"user.github.io", "a.co.uk", "b.co.uk", "127.0.0.1", "münchen.de", "xn--mnchen-3ya.de") +
			pick(random, "", "/", "/a", "/A", "/b?utm_source=x&q=1", "/c#top")
	}
	for range random.IntN(7) {
		f.Cites, f.Titles = append(f.Cites, source()),
			append(f.Titles, pick(random, "", "", "Z", "a", "東京", "Best & brightest"))
	}
	for range random.IntN(3) {
		f.Consults = append(f.Consults, source())
	}
	for range random.IntN(4) {
		f.Products = append(f.Products, event.Product{
			Title:         pick(random, "Lumen One", "Glow lamp", "A lamp", "Beam and Lumen"),
			Brand:         pick(random, "", "", "Lumen", "Dusk", "Nobody"),
			Position:      pick(random, 0, 0, 1, 2, 7),
			PriceAmount:   pick(random, "", "19.9", "0.1", "1234567890.1234", "0", "100"),
			PriceCurrency: pick(random, "", "EUR", "EUR", "USD"),
			Merchant:      pick(random, "", "Lamp Co"),
			URL: pick(random, "", "https://www.shop.co.uk/p?utm_source=x",
				"https://shop.lumen.example/1", "no address", "https://www.google.com/search?prds=1"),
			ImageURL: pick(random, "", "https://img.example/1"),
			Rating:   pick(random, 0, 4.7, 0.1), ReviewCount: pick(random, int64(0), 12),
		})
	}
	return f
}

// listed is what the lists and rules of hosts say of those above.
func listed(host string) string {
	switch {
	case strings.HasSuffix(host, "reddit.com"):
		return "forum"
	case host == "x.com":
		return "social"
	case host == "trustpilot.com":
		return "review"
	case host == "nasa.gov":
		return "institutional"
	}
	return "editorial"
}

// readingsInOrder are the readings of the next facts.
func (s *stage) readingsInOrder(t *testing.T, facts []answerFact) []naive.Reading {
	t.Helper()
	s.know(t, facts...)
	readings := make([]naive.Reading, len(facts))
	for i, f := range facts {
		f.Corrects = s.facts + i + 1
		readings[i] = s.reading(t, f)
	}
	return readings
}

func (s *stage) reading(t *testing.T, f answerFact) naive.Reading {
	t.Helper()
	return readingOf(f.record(t, s, s.snapshot(t, s.brands[0])))
}

func (s *stage) compareSources(t *testing.T, random *rand.Rand, readings []naive.Reading) {
	t.Helper()
	for range testkit.Draws(3, 8) {
		filter, query := s.randomFilter(random, "lumen")
		query.Set("brand_id", s.ids["lumen"])
		f := naive.CitationFilter{
			Filter: filter, Source: pick(random, "all", "owned", "competitor", "external"),
			Limit:     pick(random, 1, 3, 50, 200),
			Mentioned: pick(random, nil, new(true), new(false)), Consulted: random.IntN(3) == 0,
			Granularity: pick(random, "", "day", "week"),
		}
		query.Set("source_filter", f.Source)
		query.Set("limit", fmt.Sprint(f.Limit))
		if f.Mentioned != nil {
			query.Set("mentioned", fmt.Sprint(*f.Mentioned))
		}
		if f.Consulted {
			query.Set("cited", "false")
		}
		if f.Granularity != "" {
			query.Set("granularity", f.Granularity)
		}
		if random.IntN(2) == 0 {
			f.Prompt = new(s.id(pick(random, promptTexts...)))
			query.Set("prompt_id", f.Prompt.String())
		}
		s.wantBody(t, "/api/v1/citations?"+query.Encode(), naive.Citations(readings, f, listed))
		for _, name := range []string{"source_filter", "mentioned", "cited", "granularity", "prompt_id", "limit"} {
			query.Del(name)
		}
		brand := s.snapshot(t, s.brands[0])
		var rivals []naive.Live
		for _, c := range brand.Competitors {
			rivals = append(rivals, naive.Live{ID: c.ID, Name: c.Name})
		}
		who := naive.Live{ID: brand.BrandID, Name: brand.Name}
		query.Set("limit", fmt.Sprint(f.Limit%99+1))
		s.wantBody(t, "/api/v1/source-matrix?"+query.Encode(),
			naive.SourceMatrix(readings, filter, who, rivals, f.Limit%99+1, listed))
		query.Del("limit")
		s.wantBody(t, "/api/v1/shopping-summary?"+query.Encode(),
			naive.Shopping(readings, filter, who, rivals, brand.Domains))
		s.compareCards(t, random, readings, filter, query)
	}
}

// compareCards reads all pages.
func (s *stage) compareCards(t *testing.T, random *rand.Rand, readings []naive.Reading, filter naive.Filter,
	query url.Values) {
	t.Helper()
	f := naive.CardFilter{Filter: filter}
	if f.Role = pick(random, nil, new("own"), new("competitor"), new("other")); f.Role != nil {
		query.Set("role", *f.Role)
	}
	limit := pick(random, 5, 7, 50, 200)
	query.Set("limit", fmt.Sprint(limit))
	all := naive.Cards(readings, f, s.cardIDs(t))
	for {
		page := map[string]any{"cards": all[:min(limit, len(all))], "next_cursor": nil}
		all = all[min(limit, len(all)):]
		delete(s.ids, "next")
		target := "/api/v1/shopping-cards?" + query.Encode()
		_, body := s.get(t, "acme", target)
		if s.keepCursor(t, body); len(all) > 0 {
			page["next_cursor"] = s.ids["next"]
		}
		if s.wantBody(t, target, page); len(all) == 0 || t.Failed() {
			return
		}
		query.Set("cursor", s.ids["next"])
	}
}
