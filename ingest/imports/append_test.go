package imports_test

import (
	"slices"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
	"github.com/answerscope/answerscope/internal/demo"
)

// A history of visits that is appended twice comes to the same partition both times, where a sink meets the ids again.
func TestVisitsOfABrandKeepTheirPartition(t *testing.T) {
	e := newEnvironment(t)
	in := e.importer().Limit(0, 10)
	snapshot, err := answer.ReadSnapshot(t.Context(), e.db, e.brands[0])
	e.must(err)
	s, err := simulator.New(simulator.Config{Seed: 1, Cast: simulator.Cast{Brand: snapshot.Brand.Entity}})
	e.must(err)
	site := demo.Site{
		OrganizationID: snapshot.OrganizationID, Brand: snapshot.Brand.Entity, From: now.AddDate(0, 0, -3), Until: now,
	}
	visits := slices.Collect(site.Visits(s))
	for range 2 {
		n, err := in.AppendVisits(t.Context(), slices.Values(visits))
		if err != nil || n != len(visits) {
			t.Fatalf("AppendVisits() = %d, %v; want %d", n, err, len(visits))
		}
	}
	used := 0
	for _, records := range e.records(event.TopicVisits) {
		if len(records) == 0 {
			continue
		}
		used++
		var ids []uuid.UUID
		for _, m := range records {
			var v event.Visit
			e.must(event.DecodeVisit(m.Value, &v))
			ids = append(ids, v.ID)
		}
		if len(ids) != 2*len(visits) || !slices.Equal(ids[:len(visits)], ids[len(visits):]) || ids[0] != visits[0].ID {
			t.Errorf("%d visits on the log, want %d twice, in order", len(ids), len(visits))
		}
	}
	if used != 1 {
		t.Errorf("visits in %d partitions, want 1", used)
	}
}

func TestInvalidVisitIsNotAppended(t *testing.T) {
	e := newEnvironment(t)
	n, err := e.importer().AppendVisits(t.Context(), slices.Values([]event.Visit{{}}))
	if n != 0 || err == nil {
		t.Errorf("AppendVisits() = %d, %v; want an error", n, err)
	}
}
