package mirror_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/mirror"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

type world struct {
	pg   postgres.Config
	from *postgres.DB
	to   *clickhouse.Conn
}

func newWorld(t *testing.T) *world {
	t.Helper()
	pg := store.ControlPlane(t)
	return &world{pg, store.OpenControlPlane(t, pg), store.OpenWarehouse(t, store.Warehouse(t))}
}

// start runs a mirror; stop ends it.
func (w *world) start(t *testing.T) (stop func()) {
	t.Helper()
	_, stop = w.run(t, mirror.DefaultConfig(), w.from, slog.NewTextHandler(t.Output(), nil))
	return stop
}

func (w *world) run(t *testing.T, cfg mirror.Config, from *postgres.DB, log slog.Handler) (m *mirror.Mirror, stop func()) {
	t.Helper()
	m, err := mirror.New(cfg, from, w.to, prometheus.NewRegistry(), slog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	return m, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func (w *world) edit(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := w.from.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(statement, err)
	}
}

// want waits until a question has the answer.
func (w *world) want(t *testing.T, want, question string) {
	t.Helper()
	bound := time.NewTimer(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer bound.Stop()
	defer tick.Stop()
	var got string
	for {
		if err := w.to.QueryRow(t.Context(), question).Scan(&got); err != nil {
			t.Fatal(question, err)
		}
		if got == want {
			return
		}
		select {
		case <-tick.C:
		case <-bound.C:
			t.Fatalf("%s: %q, want %q", question, got, want)
		}
	}
}

const competitors = "SELECT arrayStringConcat(arraySort(groupArray(name)), ',') FROM dimension_competitors FINAL WHERE NOT deleted"

func TestEditsShowInTheDimensions(t *testing.T) {
	w := newWorld(t)
	stop := w.start(t)
	defer stop()
	org, err := w.from.AddOrganization(t.Context(), "Acme", "")
	if err != nil {
		t.Fatal(err)
	}
	brand, _, err := w.from.AddBrand(t.Context(), org.ID, postgres.NewBrand{Name: "Lumen", Slug: "lumen", Domains: []string{"lumen.example"},
		Competitors: []postgres.NewCompetitor{{Name: "Glow"}, {Name: "Ray"}}})
	if err != nil {
		t.Fatal(err)
	}
	w.want(t, "Glow,Ray", competitors)
	w.want(t, "Lumen lumen.example", "SELECT name || ' ' || arrayStringConcat(domains, ',') FROM dimension_brands FINAL WHERE NOT deleted")

	w.edit(t, "UPDATE competitors SET name = 'Glowing' WHERE name = 'Glow'")
	w.edit(t, "DELETE FROM competitors WHERE name = 'Ray'")
	w.want(t, "Glowing", competitors)

	w.edit(t, "DELETE FROM brands WHERE id = $1", brand.ID)
	w.want(t, "", competitors)
	w.want(t, "0", "SELECT toString(count()) FROM dimension_brands FINAL WHERE NOT deleted")
}

// What is edited while no mirror runs, and what several mirrors see at once, is
// copied all the same.
func TestTheOutboxWaitsForAMirror(t *testing.T) {
	w := newWorld(t)
	org, err := w.from.AddOrganization(t.Context(), "Acme", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.from.AddBrand(t.Context(), org.ID, postgres.NewBrand{Name: "Lumen", Slug: "lumen", Competitors: []postgres.NewCompetitor{{Name: "Glow"}}}); err != nil {
		t.Fatal(err)
	}
	stop := w.start(t)
	w.want(t, "Glow", competitors)
	stopSecond := w.start(t)
	stop()
	w.edit(t, "INSERT INTO competitors (brand_id, name) SELECT id, 'Ray' FROM brands")
	w.want(t, "Glow,Ray", competitors)
	stopSecond()
}
