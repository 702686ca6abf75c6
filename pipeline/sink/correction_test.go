package sink_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// reread is an answer that was recorded before, with the names of a revision.
func reread(a *event.Answer, revision int64) *event.Answer {
	copied := *a
	copied.Brand.Revision = revision
	copied.Reread = &event.Reread{MinExtractVersion: 1}
	return &copied
}

// batch is records as a consumer hands them over.
func (w *environment) batch(t *testing.T, s *sink.Answers, partition int32, first int64,
	records ...*event.Answer) *consume.Batch[sink.Answer] {
	t.Helper()
	b := &consume.Batch[sink.Answer]{Topic: w.topic, Partition: partition, First: first,
		Last: first + int64(len(records)) - 1}
	b.Plan = consume.Plan{Last: b.Last, ExtractVersion: s.Version()}
	for i, a := range records {
		item, _, err := s.Decode(s.Version(), consume.Record{Topic: w.topic, Partition: partition,
			Offset: first + int64(i), Value: encoded(t, a), Time: day})
		if err != nil {
			t.Fatal(err)
		}
		b.Items = append(b.Items, item)
	}
	return b
}

// isOwner is a checkOwnership that finds no fault.
func isOwner() error { return nil }

// The brand is named once and cited once, the competitor Glow named once. Then the
// brand has the alias "Glow", and no competitor is left but Sol, who is not named.
//
//	first        1 answer    brand: 1 mention    Glow: 1 mention
//	corrected   −1 + 1       brand: −1 + 2       Glow: −1           Sol: 0, no row
//	is           1 answer    brand: 2 mentions   Glow: 0
func TestACorrectionMovesFiguresByTheDifference(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t, nil, 0)
	registry := prometheus.NewRegistry()
	s := w.sinkWith(t, registry)
	first := answer(0)
	first.Usage = &event.Usage{InputTokens: 7, CostUSD: "0.5"}
	renamed := reread(first, 2)
	renamed.Brand.Aliases = []string{"Glow"}
	renamed.Competitors = []event.Entity{{ID: uuid.Must(uuid.FromString("01890000-0000-7000-8000-00000000000f")),
		Name: "Sol"}}
	before := w.batch(t, s, 0, 0, first)
	correction := w.batch(t, s, 0, 1, renamed, renamed, first, reread(first, 1), reread(answer(1), 2))
	// the last once more, as after a crash
	for _, b := range []*consume.Batch[sink.Answer]{before, correction, correction} {
		if err := s.Insert(t.Context(), b, isOwner); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range map[string]uint64{
		"SELECT count() FROM answers":                                                                         3,
		"SELECT toUInt64(sum(sign)) FROM answers":                                                             1,
		"SELECT toUInt64(sum(sign * mention_count)) FROM answers":                                             2,
		"SELECT count() FROM answers WHERE text != '' AND notEmpty(raw_citations.url) AND raw_products != ''": 1,
		"SELECT toUInt64(sum(input_tokens)) FROM answers":                                                     7,
		"SELECT toUInt64(sum(cost_usd) * 10) FROM answers":                                                    5,
		"SELECT toUInt64(sum(answers)) FROM answer_daily":                                                     1,
		"SELECT toUInt64(sum(mentions)) FROM answer_daily":                                                    2,
		"SELECT toUInt64(sum(mentions)) FROM entity_prompt_daily WHERE entity_id = brand_id":                  2,
		"SELECT toUInt64(sum(mentions)) FROM entity_prompt_daily WHERE entity_id != brand_id":                 0,
		"SELECT toUInt64(sum(sign)) FROM citations":                                                           1,
		"SELECT toUInt64(sum(answers)) FROM citation_daily":                                                   1,
		"SELECT toUInt64(sum(citations)) FROM citation_daily":                                                 1,
		"SELECT toUInt64(sum(sign)) FROM shopping_cards":                                                      1,
		// duplicates and outdated rereads leave no row
		"SELECT toUInt64(max(last_offset)) FROM log_progress":                                                  1,
		"SELECT toUInt64(argMax(revision, sign)) FROM (SELECT * FROM answers ORDER BY revision DESC LIMIT 10)": 2,
	} {
		if got := w.number(t, question); got != want {
			t.Errorf("%s: %d, want %d", question, got, want)
		}
	}
	wantMetric(t, registry, "answerscope_sink_records_total", "answers",
		map[string]float64{"inserted": 1, "corrected": 2, "duplicate": 2, "outdated": 6})
}

// wantMetric holds a counter of a table to its values by outcome.
func wantMetric(t *testing.T, registry *prometheus.Registry, name, table string, want map[string]float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range m.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if n := m.GetCounter().GetValue(); labels["table"] == table && n != 0 {
				got[labels["outcome"]] = n
			}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// editing makes records of two brands whose names change all the while.
type editing struct {
	random    *rand.Rand
	revisions []int64         // of each brand
	recorded  []*event.Answer // every answer, as it was recorded first
}

func (e *editing) brand() int { return e.random.IntN(len(e.revisions)) }

// named gives an answer the names of a revision of its brand: each revision has others.
func named(a *event.Answer, brand int, revision int64) *event.Answer {
	pick := rand.New(rand.NewPCG(uint64(brand), uint64(revision)))
	entity := func(id byte) event.Entity {
		names := []string{"Lumen", "Glow", "Sol", "Nova", "Arc"}
		pick.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		return event.Entity{
			ID: uuid.UUID{1, byte(brand), 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, id}, Name: names[0],
			Aliases: names[1 : pick.IntN(3)+1],
			Domains: []string{[]string{"lumen.example", "glow.example", "sol.example"}[pick.IntN(3)]},
		}
	}
	copied := *a
	copied.Brand = event.Brand{Entity: entity(1), Revision: revision}
	copied.Competitors = nil
	for id := range byte(pick.IntN(4)) {
		copied.Competitors = append(copied.Competitors, entity(10+id))
	}
	return &copied
}

// run is a new answer of a brand, or a run that was given up.
func (e *editing) run(brand, n int) *event.Answer {
	a := answer(n)
	a.ID = event.RunID(event.Identity{BrandID: uuid.UUID{1, byte(brand)}, Sample: int64(n + 1),
		Due: a.AnsweredAt.Add(-time.Duration(e.random.IntN(24)) * time.Hour)})
	a.Platform = []string{"openai", "openai", "google-shopping", "perplexity"}[e.random.IntN(4)]
	a.Text = ""
	for range 3 {
		a.Text += []string{"Lumen is good. ", "Glow is bad. ", "Take Sol. ", "Nova and Arc are great. ",
			"None. "}[e.random.IntN(5)]
	}
	a.Citations = nil
	for range e.random.IntN(4) {
		url := []string{"https://lumen.example/a", "https://glow.example/b", "https://sol.example/",
			"https://reddit.com/r/lamps"}[e.random.IntN(4)]
		a.Citations = append(a.Citations, event.Citation{URL: url, Cited: e.random.IntN(4) > 0})
	}
	a.Products = []event.Product{{Title: "Lumen One", PriceAmount: "12.5", PriceCurrency: "EUR", Rating: 4.3},
		{Title: "Sol", Brand: "Sol"}}
	a.Prompt.Text = []string{"best lamp?", "is Nova any good?"}[e.random.IntN(2)]
	a.SearchQueries, a.Usage = []string{"lamp"}, &event.Usage{InputTokens: 3, OutputTokens: int64(n),
		CostUSD: "0.000001"}
	if e.random.IntN(6) == 0 {
		a.Text, a.Citations, a.Products, a.SearchQueries, a.Finish = "", nil, nil, nil, ""
		a.GivenUp = &event.GivenUp{Class: "timeout", Error: "late"}
	}
	return named(a, brand, e.revisions[brand])
}

// next is a record of a brand: a new answer, one again, or a reread, with the names of now, of before, or of an answer
// that was never recorded.
func (e *editing) next(brand int) *event.Answer {
	var known []*event.Answer
	for _, a := range e.recorded {
		if a.Brand.ID[1] == byte(brand) {
			known = append(known, a)
		}
	}
	if e.random.IntN(4) == 0 {
		e.revisions[brand]++
	}
	revision := max(1, e.revisions[brand]-int64(max(0, e.random.IntN(6)-3)))
	switch n := e.random.IntN(10); {
	case len(known) == 0, n < 3:
		a := e.run(brand, len(e.recorded))
		e.recorded = append(e.recorded, a)
		return a
	case n < 5:
		return named(known[e.random.IntN(len(known))], brand, revision)
	case n == 5:
		return reread(e.run(brand, 1000+e.random.IntN(10)), revision)
	default:
		return reread(named(known[e.random.IntN(len(known))], brand, revision), revision)
	}
}

// fold computes the result of records, naively: the last of each id; a reread counts if it has a later revision.
func fold(records []*event.Answer) []*event.Answer {
	final := map[uuid.UUID]*event.Answer{}
	for _, a := range records {
		previous, ok := final[a.ID]
		if !ok && a.Reread == nil || ok && a.Reread != nil && a.Brand.Revision > previous.Brand.Revision {
			final[a.ID] = a
		}
	}
	var all []*event.Answer
	for _, a := range final {
		last := *a
		last.Reread = nil
		all = append(all, &last)
	}
	slices.SortFunc(all, func(a, b *event.Answer) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
	return all
}

// standings are every table that answers feed, net of corrections.
var standings = []string{
	"SELECT * EXCEPT (sign, log_topic, log_partition, log_offset, text, search_queries, `raw_citations.url`, " +
		"`raw_citations.title`, `raw_citations.cited`, raw_products, input_tokens, output_tokens, searches, " +
		"cost_usd), sum(sign) AS net FROM answers GROUP BY ALL HAVING net != 0",
	"SELECT organization_id, brand_id, id, max(text), sum(text != ''), sum(length(search_queries)), " +
		"sumMap(raw_citations.url, arrayMap(x -> 1, raw_citations.url)), max(raw_products), sum(input_tokens), " +
		"sum(output_tokens), sum(cost_usd) FROM answers GROUP BY ALL",
	"SELECT organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model, sum(runs), " +
		"sum(given_up), sum(answers), sum(mention_answers), sum(citation_answers), sum(inverse_position), " +
		"sum(mentions), sum(citations), sum(visibility), sum(visibility_named) FROM answer_daily GROUP BY ALL " +
		"HAVING sum(runs) != 0 OR sum(mentions) != 0 OR sum(inverse_position) != 0",
	"SELECT organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id, " +
		"sum(runs), sum(given_up), sum(answers), sum(mention_answers), sum(citation_answers), sum(visible_answers), " +
		"sum(inverse_position), sum(positions), sum(mentions), sum(citations), sum(visibility), " +
		"sum(visibility_named) FROM entity_prompt_daily GROUP BY ALL HAVING sum(runs) != 0 OR " +
		"sum(visible_answers) != 0 OR sum(mentions) != 0",
	"SELECT organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, served_model, " +
		"sum(runs), sum(given_up), sum(answers), sum(mention_answers), sum(citation_answers), sum(inverse_position) " +
		"FROM brand_prompt_daily GROUP BY ALL HAVING sum(runs) != 0 OR sum(mention_answers) != 0 OR " +
		"sum(inverse_position) != 0",
	"SELECT * EXCEPT (sign), sum(sign) AS net FROM citations GROUP BY ALL HAVING net != 0",
	"SELECT * EXCEPT (sign), sum(sign) AS net FROM shopping_cards GROUP BY ALL HAVING net != 0",
	"SELECT * EXCEPT (answers, citations, citing_answers, citing_answers_source, domain_answers, " +
		"domain_answers_source), sum(answers) AS a, sum(citations) AS c, sum(citing_answers) AS ca, " +
		"sum(citing_answers_source) AS cs, sum(domain_answers) AS da, sum(domain_answers_source) AS ds FROM " +
		"citation_daily GROUP BY ALL HAVING a != 0 OR c != 0 OR ca != 0 OR cs != 0 OR da != 0 OR ds != 0",
}

// stands is the result of a question, as lines in order.
func (w *environment) stands(t *testing.T, question string) []string {
	t.Helper()
	var lines []string
	if err := w.conn.QueryRow(context.Background(), "SELECT arraySort(groupArray(toString(tuple(*)))) FROM "+
		"("+question+")").Scan(&lines); err != nil {
		t.Fatal(question, err)
	}
	return lines
}

// targets are what an insert of answers feeds one after the other.
var targets = []string{"answers", "answer_daily", "entity_prompt_daily", "brand_prompt_daily", "citations",
	"citation_daily", "shopping_cards", "log_progress"}

// Any records and rereads, cut into any batches, which fail at any table and are landed again by the same process or
// another, make the same figures as the answers with their final names in an empty warehouse.
func TestCorrectionsComeToTheFinalNames(t *testing.T) {
	t.Parallel()
	seed := testkit.Seed(t)
	e := &editing{random: rand.New(rand.NewPCG(seed, 0)), revisions: []int64{1, 1}}
	w := newEnvironment(t, nil, 0)
	var records []*event.Answer
	next := make([]int64, len(e.revisions)) // a brand has a partition
	s := w.sink(t)
	for range testkit.Draws(5, 24) * kills(t) {
		brand := e.brand()
		var some []*event.Answer
		for range 1 + e.random.IntN(12) {
			some = append(some, e.next(brand))
		}
		records = append(records, some...)
		s = w.landSomehow(t, e.random, s, int32(brand), next[brand], some)
		next[brand] += int64(len(some))
	}
	fresh := newEnvironment(t, nil, 0)
	clean := fresh.sink(t)
	if err := clean.Insert(t.Context(), fresh.batch(t, clean, 0, 0, fold(records)...), isOwner); err != nil {
		t.Fatal(err)
	}
	for _, question := range standings {
		got, want := w.stands(t, question), fresh.stands(t, question)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %s", question, different(got, want))
		}
	}
}

// landSomehow lands a batch after failures, and gives the sink that goes on.
func (w *environment) landSomehow(t *testing.T, random *rand.Rand, s *sink.Answers, partition int32, first int64,
	records []*event.Answer) *sink.Answers {
	t.Helper()
	for {
		broken := random.IntN(3) == 0
		repair := func() {}
		if broken {
			repair = w.failBelow(t, targets[random.IntN(len(targets))])
		}
		err := s.Insert(t.Context(), w.batch(t, s, partition, first, records...), isOwner)
		repair()
		if random.IntN(4) == 0 {
			s = w.sink(t) // another process
		}
		switch {
		case err != nil && !broken:
			t.Fatal(err)
		case err == nil && random.IntN(4) > 0: // else the commit was lost
			return s
		}
	}
}

// different describes where two lists differ.
func different(got, want []string) string {
	only := func(of, beside []string) string {
		var lines []string
		for _, line := range of {
			if !slices.Contains(beside, line) {
				lines = append(lines, line)
			}
		}
		return fmt.Sprintf("%d: %q", len(lines), lines[:min(3, len(lines))])
	}
	return fmt.Sprintf("only got %s\nonly wanted %s", only(got, want), only(want, got))
}
