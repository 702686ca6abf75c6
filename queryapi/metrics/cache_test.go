package metrics

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A repeated question of an unchanged warehouse is answered without it: it is away then. Each kind of change gives
// another body and ETag at once.
func TestARepeatedQuestionCostsTheWarehouseNothing(t *testing.T) {
	t.Parallel()
	cfg := store.Warehouse(t)
	s := newServiceOn(t, store.OpenWarehouse(t, cfg))
	toWarehouse := testkit.NewProxy(t, cfg.DSN)
	cfg.DSN = toWarehouse.DSN
	st := (&service{url: serveWith(t, DefaultConfig(), s.db, store.OpenWarehouse(t, cfg)), db: s.db,
		warehouse: s.warehouse}).stage(t)
	st.addRivals(t, []string{"Glow", "Beam"})
	st.addBrand(t, brandFact{Organization: "rival", Name: "Other", Slug: "other"})
	target := "/api/v1/competitor-comparison?brand_id=" + st.ids["lumen"]
	ask := func(headers ...string) reply {
		t.Helper()
		return st.ask(t, http.MethodGet, target, append(headers, st.bearer("acme"))...)
	}
	tag := ask().Header.Get("ETag")
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"an insert", func() {
			st.addFacts(t, answerFact{On: "2026-03-29", Text: "Lumen"}, answerFact{
				On: "2026-03-30", Text: "Lumen, Glow",
			})
		}},
		{"a correction", func() { st.correct(t, answerFact{On: "2026-03-29", Text: "Glow", Corrects: 1}) }},
		{"a repair", func() {
			st.exec(t, "ALTER TABLE entity_prompt_daily DELETE WHERE day = '2026-03-30' SETTINGS mutations_sync = 2")
		}},
		{"a new name", func() { st.edit(t, edit{Do: "rename", What: "competitor", Name: "Glow", To: "Nova"}) }},
		{"a deletion", func() { st.edit(t, edit{Do: "delete", What: "competitor", Name: "Beam"}) }},
	} {
		if known := ask("If-None-Match: " + tag); known.StatusCode != 304 {
			t.Errorf("before %s: %d", c.name, known.StatusCode)
		}
		if c.name == "a new name" || c.name == "a deletion" {
			c.change()
		} else {
			st.holdingSinkLock(t, c.change)
		}
		st.awaitMirror(t)
		after := ask()
		if now := after.Header.Get("ETag"); after.StatusCode != 200 || now == tag {
			t.Errorf("%s: %d, ETag %s as before: %s", c.name, after.StatusCode, now, after.body)
		} else {
			tag = now
		}
	}
	batch := func(topic, brand string) {
		t.Helper()
		lock, err := s.db.LockSinksShared(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Start(t.Context(), topic, 0, []uuid.UUID{st.id(brand)}); err != nil {
			t.Fatal(err)
		}
		lock.Landed()
		lock.Release()
	}
	toWarehouse.Cut()
	batch("visits", "lumen")
	batch("answers", "other")
	if again := ask(); again.StatusCode != 200 || again.Header.Get("ETag") != tag {
		t.Errorf("asked again: %d %s", again.StatusCode, again.body)
	}
	if known := ask("If-None-Match: " + tag); known.StatusCode != 304 || known.body != "" {
		t.Errorf("asked again with its tag: %d %s", known.StatusCode, known.body)
	}
	if r := st.ask(t, http.MethodGet, strings.Replace(target, st.ids["lumen"], st.ids["other"], 1),
		st.bearer("acme")); r.StatusCode != 404 {
		t.Errorf("of another organization: %d %s", r.StatusCode, r.body)
	}
	if r := st.ask(t, http.MethodGet, target, st.bearer("rival")); r.StatusCode != 404 {
		t.Errorf("by another organization: %d %s", r.StatusCode, r.body)
	}
	if other := ask("Accept: text/csv"); other.StatusCode != 400 {
		t.Errorf("as CSV: %d %s", other.StatusCode, other.body)
	}
	st.holdingSinkLock(t, func() {})
	if r := ask(); r.StatusCode != 503 {
		t.Errorf("after a change, with the warehouse away: %d %s", r.StatusCode, r.body)
	}
}

// While a batch is under way, and after its process has died, nothing of its brand is cached: what another client has
// read may have rows of it.
func TestNothingIsCachedUnderABatch(t *testing.T) {
	t.Parallel()
	s := newService(t)
	st := (&service{url: serveWith(t, DefaultConfig(), s.db, s.warehouse), db: s.db, warehouse: s.warehouse}).stage(t)
	st.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	target := "/api/v1/visibility-summary?brand_id=" + st.ids["lumen"]
	count := func(want string) {
		t.Helper()
		if _, body := st.get(t, "acme", target); !strings.Contains(body, `"resultCount":`+want+",") {
			t.Errorf("want %s answers: %s", want, body)
		}
	}
	start := func() *postgres.SharedSinkLock {
		t.Helper()
		lock, err := s.db.LockSinksShared(t.Context(), 0)
		if err == nil {
			err = lock.Start(t.Context(), "answers", 0, []uuid.UUID{st.id("lumen")})
		}
		if err != nil {
			t.Fatal(err)
		}
		return lock
	}
	count("0")
	lock := start()
	count("0") // rendered under the batch
	st.addFacts(t, answerFact{On: "2026-03-29", Text: "Lumen"})
	count("1")
	lock.Release() // as when its process dies
	count("1")
	st.addFacts(t, answerFact{On: "2026-03-30", Text: "Lumen"}) // the server was at it still
	count("2")
	lock = start()
	lock.Landed()
	lock.Release()
	count("2")
	st.addFacts(t, answerFact{On: "2026-03-30", Text: "Lumen"}) // noted nowhere
	count("2")                                                  // of the cache
}

// An endpoint's figures count records of its topics alone, since its cached bodies outlast those of others.
func TestAnEndpointCountsItsTopics(t *testing.T) {
	t.Parallel()
	st := newService(t).stage(t)
	st.addBrand(t, brandFact{Name: "Lumen", Slug: "lumen"})
	topicsOf := map[string][]string{}
	for _, e := range endpoints {
		topicsOf[prefix+e.path] = e.counts()
	}
	for topic, add := range map[string]func(){
		"answers": func() { st.addFacts(t, answerFact{On: "2026-03-29", Text: "Lumen", Cites: []string{"a.example"}}) },
		"visits": func() {
			st.land(t, st.visitSink(t, 1000), st.visits(t, visitFact{Brand: "lumen", On: "2026-03-29"}))
		},
		"crawls": func() { st.landCrawls(t, st.crawls(t, crawlFact{Brand: "lumen", On: "2026-03-29"})) },
	} {
		before, changed := st.bodies(t), 0
		add()
		for target, after := range st.bodies(t) {
			path, _, _ := strings.Cut(target, "?")
			if strings.HasPrefix(path, prefix+"/answers/") {
				path = prefix + "/answers/{id}"
			}
			if after != before[target] {
				if changed++; !slices.Contains(topicsOf[path], topic) {
					t.Errorf("%s changed with %s, want a body of %v alone", target, topic, topicsOf[path])
				}
			}
		}
		if changed == 0 {
			t.Errorf("no endpoint counts %s: it proves nothing", topic)
		}
	}
}

// holdingSinkLock does what a sink, a purge or a repair does.
func (s *stage) holdingSinkLock(t *testing.T, change func()) {
	t.Helper()
	lock, err := s.db.LockSinksShared(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	change()
	lock.Release()
}

// A question is answered again for an organization, a version and a request, whichever other organizations ask; at 65
// organizations an earlier cache forgot each before it asked again.
func TestEveryOrganizationHasItsBodiesCached(t *testing.T) {
	t.Parallel()
	cache, now := newResponseCache(DefaultConfig().CacheBytes), today
	key := func(organization byte, version int64, query string) cacheKey {
		return cacheKey{uuid.UUID{organization}, settled(version), request{path: "/", query: query}}
	}
	for organization := range byte(200) {
		cache.add(key(organization, 1, "a"), rendered{body: []byte{organization}}, now)
	}
	cache.bodies.CleanUp() // eviction is asynchronous
	for organization := range byte(200) {
		if found, ok := cache.find(key(organization, 1, "a"), now); !ok || found.body[0] != organization {
			t.Errorf("organization %d: %v, %v", organization, found, ok)
		}
	}
	under := key(0, 3, "a")
	under.version.Settled = false
	cache.add(under, rendered{}, now)
	cache.add(key(0, 1, "large"), rendered{body: make([]byte, maxCachedBody+1)}, now)
	for name, absent := range map[string]cacheKey{
		"another organization": key(201, 1, "a"), "another version": key(0, 2, "a"), "another request": key(0, 1, "b"),
		"under a batch": under, "a large body": key(0, 1, "large"),
	} {
		if _, ok := cache.find(absent, now); ok {
			t.Error(name)
		}
	}
	if _, ok := cache.find(key(1, 1, "a"), now.Add(cachedFor-time.Second)); !ok {
		t.Error("forgotten too early")
	}
	if _, ok := cache.find(key(1, 1, "a"), now.Add(cachedFor)); ok {
		t.Error("cached too long")
	}
}

func settled(version int64) postgres.WarehouseVersion {
	return postgres.WarehouseVersion{Changes: version, Settled: true}
}

func TestTheCacheIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	cache := newResponseCache(most)
	for version := range int64(100) {
		cache.add(cacheKey{version: settled(version)}, rendered{body: make([]byte, 100_000)}, today)
	}
	cache.bodies.CleanUp()
	if bytes := cache.bodies.WeightedSize(); bytes > most || bytes < most/2 {
		t.Errorf("%d bytes, want at most %d", bytes, most)
	}
	newResponseCache(0).add(cacheKey{version: settled(1)}, rendered{}, today)
	if _, ok := newResponseCache(0).find(cacheKey{version: settled(1)}, today); ok {
		t.Error("found without a cache")
	}
}
