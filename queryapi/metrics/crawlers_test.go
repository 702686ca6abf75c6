package metrics

import (
	"cmp"
	"context"
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

// A crawlFact is a request of an AI crawler.
type crawlFact struct {
	Brand string `json:"brand"` // slug; "" is the first brand
	// of its log: facts of one line, site, time and ordinal are one crawl, appended again; "" is none of them
	Line     string `json:"line"`
	On       string `json:"on"`      // a day, at noon, or an instant
	Crawler  string `json:"crawler"` // "" is GPTBot
	Operator string `json:"operator"`
	Platform string `json:"platform"`
	Purpose  string `json:"purpose"` // "" is training
	Host     string `json:"host"`    // "" is lumen.example
	Path     string `json:"path"`    // "" is /
	Status   int    `json:"status"`
	Bytes    int64  `json:"bytes"`
	Verified *bool  `json:"verified"`
	Times    int    `json:"times"` // so many alike; 0 is 1
}

// record is the fact's record.
func (f crawlFact) record(t *testing.T, s *stage, brand postgres.Snapshot) event.Crawl {
	t.Helper()
	at, host := event.At(instantOf(t, f.On)), cmp.Or(f.Host, "lumen.example")
	ordinal := 0
	if f.Line == "" {
		ordinal = s.crawled + 1
	}
	return event.Crawl{
		V: event.Version, ID: event.CrawlID(host, []byte(f.Line), ordinal, at.Time),
		OrganizationID: brand.OrganizationID, BrandID: brand.BrandID, At: at,
		Crawler: cmp.Or(f.Crawler, "GPTBot"), Operator: f.Operator, Platform: f.Platform,
		Purpose: event.Purpose(cmp.Or(f.Purpose, string(event.PurposeTraining))),
		Host:    host, Path: cmp.Or(f.Path, "/"), Status: f.Status, Bytes: f.Bytes, Verified: f.Verified,
	}
}

// crawls makes the records of facts, in order.
func (s *stage) crawls(t *testing.T, facts ...crawlFact) []event.Crawl {
	t.Helper()
	var all []event.Crawl
	for _, f := range facts {
		snapshot := s.snapshot(t, cmp.Or(f.Brand, s.brands[0]))
		for range max(f.Times, 1) {
			all = append(all, f.record(t, s, snapshot))
			s.crawled++
		}
	}
	return all
}

// landCrawls lands crawls as one batch of records of the log: through the codec and the sink.
func (s *stage) landCrawls(t *testing.T, crawls []event.Crawl) {
	t.Helper()
	target := sink.NewCrawls(s.shard(t), prometheus.NewRegistry(), logTo(t))
	batch := &consume.Batch[sink.Crawl]{Topic: s.name + ".crawls", First: s.landedCrawls}
	for i := range crawls {
		value, err := event.EncodeCrawl(nil, &crawls[i])
		if err != nil {
			t.Fatal(err)
		}
		item, _, err := target.Decode(target.Version(), consume.Record{
			Topic: batch.Topic, Offset: s.landedCrawls, Value: value, Time: today,
		})
		if err != nil {
			t.Fatal(err)
		}
		batch.Items = append(batch.Items, item)
		s.landedCrawls++
	}
	batch.Last = s.landedCrawls - 1
	if err := target.Insert(context.WithoutCancel(t.Context()), batch, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// Crawls too have two proofs, of random requests of two organizations that are appended late, out of order and twice.
func TestCrawlersEqualThePlainestComputation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, seed := range seeds(t, 0) {
		t.Run(fmt.Sprintf("crawls_%d", seed), func(t *testing.T) {
			st := s.stage(t)
			random := rand.New(rand.NewPCG(seed, 3))
			st.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
			st.addBrand(t, brandFact{Name: "Other", Slug: "other"})
			st.addBrand(t, brandFact{Organization: "rival", Name: "Lumen", Slug: "lumen-of-rival"})
			var appended []event.Crawl
			for range 5 {
				batch := st.crawls(t, randomCrawls(random, 10+random.IntN(60))...)
				for range random.IntN(30) {
					batch = append(batch, pick(random, append(appended, batch...)...))
				}
				random.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
				st.landCrawls(t, batch)
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
						[]string{"claude", "none"}); f.Platforms != nil {
						query.Set("platform", strings.Join(f.Platforms, ","))
					}
					granularity := pick(random, "", "day", "week", "month")
					if granularity != "" {
						query.Set("granularity", granularity)
					}
					st.wantBodyOf(t, asked[0], "/api/v1/ai-crawlers?"+query.Encode(),
						naive.Crawlers(appended, st.id(asked[0]), st.id(asked[1]), f, granularity))
				}
			}
		})
	}
}

func randomCrawls(random *rand.Rand, n int) []crawlFact {
	facts := make([]crawlFact, n)
	for i := range facts {
		at := time.Date(2026, 2, 20, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(40*24*60)) * time.Minute)
		facts[i] = crawlFact{
			Brand:    pick(random, "lumen", "lumen", "other", "lumen-of-rival"),
			On:       at.Format(time.RFC3339),
			Crawler:  pick(random, "GPTBot", "GPTBot", "ClaudeBot", "Claude-User"),
			Operator: pick(random, "OpenAI", ""),
			Platform: pick(random, "chatgpt", "claude", ""),
			Purpose:  pick(random, "training", "search", "user"),
			Host:     pick(random, "lumen.example", "shop.lumen.example"),
			Path: pick(random, "/", "/a", "/b", "/c", "/d", "/e", "/f", "/g", "/A", "/é", "/東", "/😀", "/b/",
				"/%41"),
			Status:   pick(random, 0, 200, 200, 304, 403, 999),
			Bytes:    int64(random.IntN(1 << 30)),
			Verified: pick(random, nil, new(true), new(false)),
		}
	}
	return facts
}
