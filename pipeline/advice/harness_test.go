package advice

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/sink"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

var always = Window{"2025-01-01", "2027-01-01"}

func idOf(parts ...any) uuid.UUID { return uuid.NewV5(uuid.NamespaceURL, fmt.Sprint(parts...)) }

// A set is a brand and its answers.
type set struct {
	brand   Brand
	answers []event.Answer
}

func newSet(name string, brand event.Entity, competitors ...event.Entity) *set {
	s := &set{brand: Brand{Snapshot: postgres.Snapshot{
		OrganizationID: idOf("organization"), BrandID: idOf(name), Name: brand.Name, Aliases: brand.Aliases,
		Domains:  brand.Domains,
		Revision: 1,
	}}}
	for _, c := range competitors {
		s.brand.Competitors = append(s.brand.Competitors, postgres.Competitor{
			ID: idOf(name, c.Name), Name: c.Name, Aliases: c.Aliases, Domains: c.Domains,
		})
	}
	return s
}

// prompt returns the prompt of a text, which the brand tracks from then on.
func (s *set) prompt(text, topic string) event.Prompt {
	id := idOf(s.brand.BrandID, text)
	for _, p := range s.brand.Prompts {
		if p.ID == id {
			return event.Prompt{ID: id, Text: text, SetID: s.brand.BrandID}
		}
	}
	s.brand.Prompts = append(s.brand.Prompts, postgres.TrackedPrompt{ID: id, Text: text, Topic: topic, IsActive: true})
	return event.Prompt{ID: id, Text: text, SetID: s.brand.BrandID}
}

// add adds an answer to the brand, as it is snapshotted now.
func (s *set) add(a event.Answer) {
	b := s.brand
	a.V, a.OrganizationID, a.Sample = event.Version, b.OrganizationID, int64(len(s.answers)+1)
	a.Brand = event.Brand{
		Entity: event.Entity{ID: b.BrandID, Name: b.Name, Aliases: b.Aliases, Domains: b.Domains}, Revision: b.Revision,
	}
	for _, c := range b.Competitors {
		a.Competitors = append(a.Competitors, event.Entity{
			ID: c.ID, Name: c.Name, Aliases: c.Aliases, Domains: c.Domains,
		})
	}
	a.Competitors = a.Competitors[:min(len(a.Competitors), event.MaxRivals)]
	a.ID = event.RunID(event.Identity{
		BrandID: b.BrandID, PromptText: a.Prompt.Text, Platform: a.Platform, Sample: a.Sample, Due: a.AnsweredAt.Time,
	})
	s.answers = append(s.answers, a)
}

// rows returns the landing rows of the answers. With corrected, each third answer was first read without the brand's
// names, and is taken back.
func (s *set) rows(t *testing.T, corrected bool) (rows []clickhouse.AnswerRow) {
	t.Helper()
	for i, a := range s.answers {
		row := rowOf(t, a, int64(i))
		if !corrected || i%3 > 0 || a.GivenUp != nil {
			rows = append(rows, row)
			continue
		}
		a.Brand = event.Brand{Entity: event.Entity{ID: a.Brand.ID, Name: "Nobody"}}
		first := rowOf(t, a, int64(i))
		back := first
		back.Sign, back.Text, back.SearchQueries, back.RawProducts = -1, "", nil, ""
		row.Text, row.SearchQueries, row.RawProducts = "", nil, ""
		rows = append(rows, first, back, row)
	}
	return rows
}

func rowOf(t *testing.T, a event.Answer, offset int64) clickhouse.AnswerRow {
	t.Helper()
	value, err := event.EncodeAnswer(nil, &a)
	if err != nil {
		t.Fatal(err)
	}
	row, _, err := sink.DecodeAnswer(extract.Version, consume.Record{Topic: "answers", Offset: offset, Value: value})
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// land inserts answers of sets in a random order, and their competitors.
func land(t *testing.T, warehouse *clickhouse.Conn, random *rand.Rand, corrected bool, sets ...*set) {
	t.Helper()
	byMonth := map[clickhouse.Month][]clickhouse.AnswerRow{}
	var competitors []clickhouse.DimensionCompetitor
	for _, s := range sets {
		for _, row := range s.rows(t, corrected) {
			byMonth[row.Month()] = append(byMonth[row.Month()], row)
		}
		for _, c := range s.brand.Competitors {
			competitors = append(competitors, clickhouse.DimensionCompetitor{
				OrganizationID: clickhouse.UUID(s.brand.OrganizationID), BrandID: clickhouse.UUID(s.brand.BrandID),
				ID: clickhouse.UUID(c.ID), Name: c.Name, Version: 1,
			})
		}
	}
	for month, rows := range byMonth {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		half := len(rows) / 2
		for i, part := range [][]clickhouse.AnswerRow{rows[:half], rows[half:]} {
			if err := clickhouse.Answers.Insert(t.Context(), warehouse,
				fmt.Sprint(sets[0].brand.BrandID, month, i), part); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := clickhouse.DimensionCompetitors.Insert(t.Context(), warehouse, "", competitors); err != nil {
		t.Fatal(err)
	}
}

// apply applies the rules of gaps, sources and searches.
func (s *set) apply(t *testing.T, warehouse *clickhouse.Conn) (all []Result) {
	t.Helper()
	for _, r := range []rule{comparisons, searches} {
		found, err := r(t.Context(), warehouse, s.brand, always)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

func at(day, hour int) event.Time {
	return event.At(time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC))
}
