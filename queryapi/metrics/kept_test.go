package metrics

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
)

// A repeated question of an unchanged warehouse is answered without it: it is away then. Each kind of change gives
// another body and ETag at once.
func TestARepeatedQuestionCostsTheWarehouseNothing(t *testing.T) {
	t.Parallel()
	cfg := store.Warehouse(t)
	s := newServiceOn(t, store.OpenWarehouse(t, cfg))
	toWarehouse := testkit.NewProxy(t, cfg.DSN)
	cfg.DSN = toWarehouse.DSN
	st := (&service{url: serveWith(t, DefaultConfig(), s.db, store.OpenWarehouse(t, cfg)), db: s.db, warehouse: s.warehouse}).stage(t)
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
			st.addFacts(t, answerFact{On: "2026-03-29", Text: "Lumen"}, answerFact{On: "2026-03-30", Text: "Lumen, Glow"})
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
	toWarehouse.Cut()
	if again := ask(); again.StatusCode != 200 || again.Header.Get("ETag") != tag {
		t.Errorf("asked again: %d %s", again.StatusCode, again.body)
	}
	if known := ask("If-None-Match: " + tag); known.StatusCode != 304 || known.body != "" {
		t.Errorf("asked again with its tag: %d %s", known.StatusCode, known.body)
	}
	if r := st.ask(t, http.MethodGet, strings.Replace(target, st.ids["lumen"], st.ids["other"], 1), st.bearer("acme")); r.StatusCode != 404 {
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

func TestWhatIsKeptIsBounded(t *testing.T) {
	now := today
	k := kept{most: 100, of: map[uuid.UUID]*keptBodies{}}
	of := func(query string) request { return request{path: "/", query: query} }
	kept := func(organization byte, version int64, query string) bool {
		_, ok := k.find(uuid.UUID{organization}, version, of(query), now)
		return ok
	}
	keep := func(organization byte, version int64, query string, size int) {
		k.keep(uuid.UUID{organization}, version, of(query), rendered{body: make([]byte, size)}, now)
	}
	keep(1, 1, "a", 40)
	keep(1, 1, "b", 40)
	keep(1, 1, "b", 40)
	if !kept(1, 1, "a") || !kept(1, 1, "b") || kept(2, 1, "a") || kept(1, 2, "a") || kept(1, 0, "a") {
		t.Error("not what was kept, for whom it was")
	}
	keep(1, 1, "c", 40)
	if kept(1, 1, "a") || !kept(1, 1, "c") {
		t.Error("more bytes than the most")
	}
	keep(1, 2, "d", 40)
	keep(1, 1, "e", 40) // was made before
	keep(1, 2, "f", 101)
	if kept(1, 1, "c") || kept(1, 1, "e") || !kept(1, 2, "d") || kept(1, 2, "f") {
		t.Error("another version's, or one too large")
	}
	now = now.Add(keptFor - time.Second)
	if !kept(1, 2, "d") {
		t.Error("forgotten too early")
	}
	if now = now.Add(time.Second); kept(1, 2, "d") {
		t.Error("kept too long")
	}
	k.of = map[uuid.UUID]*keptBodies{}
	for organization := range byte(keptOrganizations + 1) {
		now = now.Add(time.Millisecond)
		keep(organization, 3, "a", 1)
	}
	if len(k.of) != keptOrganizations || kept(0, 3, "a") || !kept(1, 3, "a") || !kept(keptOrganizations, 3, "a") {
		t.Errorf("%d organizations are kept", len(k.of))
	}
}
