package metrics

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/naive"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A visitFact is a visit that an AI platform sent, or a goal.
type visitFact struct {
	Brand    string `json:"brand"`    // slug; "" is the first brand
	ID       string `json:"id"`       // facts of one name are one visit, appended again; "" is none of them
	On       string `json:"on"`       // a day, at noon, or an instant
	Platform string `json:"platform"` // "" is chatgpt
	Host     string `json:"host"`     // "" is lumen.example
	Path     string `json:"path"`     // "" is /
	Country  string `json:"country"`
	Begins   bool   `json:"begins"` // a session
	Goal     string `json:"goal"`   // its name; "" is a view
	Value    string `json:"value"`
	Currency string `json:"currency"`
	Times    int    `json:"times"` // so many alike; 0 is 1
}

// record is the fact's record.
func (f visitFact) record(t *testing.T, s *stage, brand postgres.Snapshot) *event.Visit {
	t.Helper()
	at := event.At(instantOf(t, f.On))
	v := &event.Visit{
		V: event.Version, OrganizationID: brand.OrganizationID, BrandID: brand.BrandID, At: at, Event: event.VisitView,
		Platform: cmp.Or(f.Platform, "chatgpt"), PlatformBy: "referrer", Host: cmp.Or(f.Host, "lumen.example"),
		Path: cmp.Or(f.Path, "/"), Country: f.Country, NewSession: f.Begins,
	}
	if f.Goal != "" {
		v.Event, v.Goal = event.VisitGoal, &event.Goal{Name: f.Goal, Value: f.Value, Currency: f.Currency}
	}
	identity := event.Identity{BrandID: brand.BrandID, PromptText: f.ID, Due: at.Time}
	if f.ID == "" {
		identity.Sample = int64(s.visited) + 1
	}
	v.ID = event.RunID(identity)
	return v
}

// visits makes the records of facts, in order.
func (s *stage) visits(t *testing.T, facts ...visitFact) []event.Visit {
	t.Helper()
	var all []event.Visit
	for _, f := range facts {
		snapshot := s.snapshot(t, cmp.Or(f.Brand, s.brands[0]))
		for range max(f.Times, 1) {
			all = append(all, *f.record(t, s, snapshot))
			s.visited++
		}
	}
	return all
}

// land lands visits as one batch of records of the log: through the codec and the sink.
func (s *stage) land(t *testing.T, target *sink.Visits, visits []event.Visit) {
	t.Helper()
	batch := &consume.Batch[sink.Visit]{Topic: s.name + ".visits", First: s.landed}
	for i := range visits {
		value, err := event.EncodeVisit(nil, &visits[i])
		if err != nil {
			t.Fatal(err)
		}
		item, _, err := target.Decode(target.Version(), consume.Record{
			Topic: batch.Topic, Offset: s.landed, Value: value, Time: today,
		})
		if err != nil {
			t.Fatal(err)
		}
		batch.Items = append(batch.Items, item)
		s.landed++
	}
	batch.Last = s.landed - 1
	if err := target.Insert(t.Context(), batch, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// fillTraffic lands visits, goals and crawls of pages that each count sorts otherwise.
func (s *stage) fillTraffic(t *testing.T) {
	t.Helper()
	day := dayText(today)
	s.land(t, s.visitSink(t, 100), s.visits(t,
		visitFact{On: day, Path: "/visited", Times: 3}, visitFact{On: day, Path: "/begun", Begins: true, Times: 2},
		visitFact{On: day, Path: "/reached", Goal: "order", Value: "9.50", Currency: "EUR"}))
	s.landCrawls(t, s.crawls(t, crawlFact{On: day, Path: "/crawled", Status: 404, Times: 2}))
}

// visitSink is a sink that has just started.
func (s *stage) visitSink(t *testing.T, remembered int) *sink.Visits {
	return sink.NewVisits(s.shard(t), remembered, prometheus.NewRegistry(), logTo(t))
}

// Traffic too has two proofs, of random visits and goals of two organizations that are appended late, out of order and
// twice: in the same batch, in a later one, and to a sink that has started anew or remembers little.
func TestTrafficEqualsThePlainestComputation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, seed := range seeds(t, 0) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			st := s.stage(t)
			random := rand.New(rand.NewPCG(seed, 2))
			st.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
			st.addBrand(t, brandFact{Name: "Other", Slug: "other"})
			st.addBrand(t, brandFact{Organization: "rival", Name: "Lumen", Slug: "lumen-of-rival"})
			var appended []event.Visit
			target := st.visitSink(t, 1+random.IntN(40))
			for range 6 {
				if random.IntN(3) == 0 {
					target = st.visitSink(t, 1+random.IntN(40))
				}
				batch := st.visits(t, randomVisits(random, 10+random.IntN(60))...)
				for range random.IntN(30) {
					batch = append(batch, pick(random, append(appended, batch...)...))
				}
				random.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
				st.land(t, target, batch)
				appended = append(appended, batch...)
			}
			for range testkit.Draws(4, 8) {
				from := time.Date(2026, 2, 18+random.IntN(20), 0, 0, 0, 0, time.UTC)
				to := from.AddDate(0, 0, random.IntN(40))
				for _, asked := range [][2]string{{"acme", "lumen"}, {"acme", "other"}, {"rival", "lumen-of-rival"}} {
					query := url.Values{
						"brand_id": {st.ids[asked[1]]}, "date_from": {dayText(from)}, "date_to": {dayText(to)},
					}
					f := naive.Filter{From: dayText(from), To: dayText(to)}
					if f.Platforms = pick(random, nil, nil, []string{"ChatGPT"},
						[]string{"gemini", "perplexity"}); f.Platforms != nil {
						query.Set("platform", strings.Join(f.Platforms, ","))
					}
					granularity, compare := pick(random, "", "day", "week", "month"), pick(random, "none", "previous")
					query.Set("compare", compare)
					if granularity != "" {
						query.Set("granularity", granularity)
					}
					st.wantBodyOf(t, asked[0], "/api/v1/ai-traffic?"+query.Encode(),
						naive.Traffic(appended, st.id(asked[0]), st.id(asked[1]), f, granularity,
							compare == "previous"))
				}
			}
		})
	}
}

func randomVisits(random *rand.Rand, n int) []visitFact {
	facts := make([]visitFact, n)
	for i := range facts {
		at := time.Date(2026, 2, 20, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(40*24*60)) * time.Minute)
		facts[i] = visitFact{
			Brand:    pick(random, "lumen", "lumen", "other", "lumen-of-rival"),
			On:       at.Format(time.RFC3339),
			Platform: pick(random, "chatgpt", "chatgpt", "perplexity", "gemini"),
			Host:     pick(random, "lumen.example", "shop.lumen.example"),
			Path: pick(random, "/", "/a", "/b", "/c", "/d", "/e", "/f", "/g", "/A", "/é", "/東", "/😀", "/b/",
				"/%41"),
			Country: pick(random, "", "", "DE", "FR", "US"),
			Begins:  random.IntN(3) > 0,
		}
		if random.IntN(5) == 0 {
			facts[i].Goal = pick(random, "signup", "signup", "order", "Order", "bestellt€", "注文")
			facts[i].Value = pick(random, "", "1.10", "0.1", "0.2", "-0.000001", "999999999999.999999",
				"-999999999999.999999")
			facts[i].Currency = pick(random, "", "", "EUR", "USD", "JPY")
		}
	}
	return facts
}
