package upkeep_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// mirroringEnvironment is a control plane and a warehouse of a test's own.
type mirroringEnvironment struct {
	pg   postgres.Config
	from *postgres.DB
	to   *clickhouse.Conn
}

func newMirroring(t *testing.T) *mirroringEnvironment {
	t.Helper()
	t.Parallel()
	pg := store.ControlPlane(t)
	return &mirroringEnvironment{pg, store.OpenControlPlane(t, pg), store.OpenWarehouse(t, store.Warehouse(t))}
}

// mirror is one that copies from the control plane.
func (e *mirroringEnvironment) mirror(log *slog.Logger) *upkeep.Mirror {
	return upkeep.NewMirror(e.from, e.to, prometheus.NewRegistry(), log)
}

func (e *mirroringEnvironment) start(t *testing.T) (stop func()) {
	t.Helper()
	return testkit.Start(t, e.mirror(testkit.Log(t)).Run)
}

func (e *mirroringEnvironment) edit(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := e.from.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(statement, err)
	}
}

// want waits until a question has the answer.
func (e *mirroringEnvironment) want(t *testing.T, want, question string) {
	t.Helper()
	wait.For(t, fmt.Sprintf("%s to give %q", question, want), func() bool {
		var got string
		if err := e.to.QueryRow(t.Context(), question).Scan(&got); err != nil {
			t.Fatal(question, err)
		}
		return got == want
	})
}

// addBrand adds the brand Lumen of a new organization.
func addBrand(t *testing.T, db *postgres.DB, competitors ...postgres.NewCompetitor) postgres.Brand {
	t.Helper()
	org, err := db.AddOrganization(t.Context(), "Acme", "")
	if err != nil {
		t.Fatal(err)
	}
	brand, _, err := db.AddBrand(t.Context(), org.ID, postgres.NewBrand{
		Name: "Lumen", Slug: "lumen", Domains: []string{"lumen.example"}, Competitors: competitors,
	})
	if err != nil {
		t.Fatal(err)
	}
	return brand
}

const competitors = "SELECT arrayStringConcat(arraySort(groupArray(name)), ',') FROM dimension_competitors FINAL " +
	"WHERE NOT deleted"

func TestEditsShowInTheDimensions(t *testing.T) {
	e := newMirroring(t)
	stop := e.start(t)
	defer stop()
	brand := addBrand(t, e.from, postgres.NewCompetitor{Name: "Glow"}, postgres.NewCompetitor{Name: "Ray"})
	e.want(t, "Glow,Ray", competitors)
	e.want(t, "Lumen lumen.example",
		"SELECT name || ' ' || arrayStringConcat(domains, ',') FROM dimension_brands FINAL WHERE NOT deleted")

	e.edit(t, "UPDATE competitors SET name = 'Glowing' WHERE name = 'Glow'")
	e.edit(t, "DELETE FROM competitors WHERE name = 'Ray'")
	e.want(t, "Glowing", competitors)

	e.edit(t, "DELETE FROM brands WHERE id = $1", brand.ID)
	e.want(t, "", competitors)
	e.want(t, "0", "SELECT toString(count()) FROM dimension_brands FINAL WHERE NOT deleted")
}

// Edits made while no mirror runs are copied later, and two mirrors at once copy as one does.
func TestTheOutboxWaitsForAMirror(t *testing.T) {
	e := newMirroring(t)
	addBrand(t, e.from, postgres.NewCompetitor{Name: "Glow"})
	stop := e.start(t)
	e.want(t, "Glow", competitors)
	stopSecond := e.start(t)
	stop()
	e.edit(t, "INSERT INTO competitors (brand_id, name) SELECT id, 'Ray' FROM brands")
	e.want(t, "Glow,Ray", competitors)
	stopSecond()
}
