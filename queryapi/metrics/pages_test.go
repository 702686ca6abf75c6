package metrics

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/naive"
)

// Pages have two proofs as well: random answers that cite the brand's pages, crawls and visits of them, of two
// organizations.
func TestPagesEqualThePlainestComputation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, seed := range seeds(t, 0) {
		t.Run(fmt.Sprintf("pages_%d", seed), func(t *testing.T) {
			st := s.stage(t)
			random := rand.New(rand.NewPCG(seed, 4))
			st.addRivals(t, []string{"Glow", "Beam"})
			st.addBrand(t, brandFact{Name: "Other", Slug: "other"})
			st.addBrand(t, brandFact{Organization: "rival", Name: "Lumen", Slug: "lumen-of-rival"})
			facts := make([]answerFact, 30+random.IntN(100))
			for i := range facts {
				facts[i] = randomSources(random)
			}
			readings := st.readingsInOrder(t, facts)
			st.addFacts(t, facts...)
			st.readOtherwise(t, random, facts, readings)
			visited, crawled := randomVisits(random, 60), randomCrawls(random, 60)
			for i := range visited {
				visited[i].Host = pick(random, "www.lumen.example", "lumen.example", "shop.lumen.example")
				crawled[i].Host = pick(random, "www.lumen.example", "lumen.example", "shop.lumen.example")
			}
			visits, crawls := st.visits(t, visited...), st.crawls(t, crawled...)
			st.land(t, st.visitSink(t, 100), visits)
			st.landCrawls(t, crawls)
			for range testkit.Draws(6, 12) {
				filter, query := st.randomFilter(random, "lumen")
				limit := pick(random, 1, 3, 50, 200)
				query.Set("brand_id", st.ids["lumen"])
				query.Set("limit", fmt.Sprint(limit))
				step := pick(random, "", "crawled", "cited", "visited", "converted", "crawled_never_cited",
					"cited_never_visited")
				if step != "" {
					query.Set("step", step)
				}
				sortBy := pick(random, "visits", "sessions", "citations", "crawls", "goals")
				query.Set("sort_by", sortBy)
				st.wantBody(t, "/api/v1/ai-pages?"+query.Encode(),
					naive.Pages(readings, crawls, visits, st.id("acme"), st.id("lumen"), filter, step, sortBy, limit,
						listed))
			}
		})
	}
}
