package metrics

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/pipeline/sink"
)

// historiesVariable is the number of random histories of each test, one unless it is set.
const historiesVariable = "ANSWERSCOPE_TEST_HISTORIES"

// seeds are as many as historiesVariable says, from first on.
func seeds(t *testing.T, first uint64) []uint64 {
	t.Helper()
	count, err := strconv.Atoi(cmp.Or(os.Getenv(historiesVariable), strconv.Itoa(testkit.Draws(1, 2))))
	if err != nil {
		t.Fatal(err)
	}
	all := make([]uint64, count)
	for n := range all {
		all[n] = first + uint64(n)
	}
	return all
}

// However answers, edits and rereads come about each other, whatever is killed, and whichever release reads, all ends
// in the figures of a fresh system that had the final names, and the newest extractor, first.
func TestAnyHistoryEndsAsAFreshSystem(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, seed := range seeds(t, testkit.Seed(t)) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			l := newHarness(t, s.stage(t), rand.New(rand.NewPCG(seed, 7)))
			l.live(t)
			l.awaitIdle(t)
			l.describe(t)
			l.compareWithFresh(t)
			l.compareWithPlain(t)
			clear(l.compared) // one comparison may meet no figure of a kind; those of TestFiguresEqual… may not
		})
	}
}

// live goes through some days: on each the pipeline is killed, or ends its work, or is stopped amid it. On one of them,
// at times the last, its sink is killed at its first batch while the results are written, and the next release takes
// over.
func (l *harness) live(t *testing.T) {
	t.Helper()
	days := 4
	upgraded := pick(l.random, 1, 2, 3, 3, 3)
	for day := range days {
		batches := pick(l.random, 2, 5, forever)
		enough := pick(l.random, 1, 10, forever)
		l.ask(t)
		var p *pipeline
		if day == upgraded {
			p, batches = l.start(t, 20, 1, forever), 1
		} else {
			p = l.start(t, 1+l.random.IntN(60), batches, pick(l.random, 3, forever))
		}
		for range 2 + l.random.IntN(3) {
			l.appendSome(t, 1+l.random.IntN(40))
			switch l.random.IntN(5) {
			case 0, 1:
				l.edits(t)
			case 2, 3:
				l.editAliases(t)
			case 4:
				l.ask(t)
			}
			l.makeRereadsDue(t) // so that some of it is read again while the next edit comes
		}
		l.appendSome(t, 1+l.random.IntN(100))
		wait.For(t, "the pipeline has done its share", func() bool {
			left := int(p.left.Load())
			if day == upgraded {
				return left <= 0 && l.committedAll(t, "results")
			}
			return left <= 0 || batches-left >= enough || l.committedAll(t, "sink")
		})
		p.stop()
		if day == upgraded {
			l.version = nextRelease
		}
	}
	l.appendSome(t, len(l.asked))
}

// final are the first records as a fresh system gets them: with the names of now.
func (l *harness) final(t *testing.T) []*event.Answer {
	t.Helper()
	var all []*event.Answer
	for _, slug := range l.brands {
		now := l.snapshot(t, slug)
		for _, first := range l.first {
			if first.Brand.ID != now.BrandID {
				continue
			}
			a := *first
			a.Brand = event.Brand{
				Entity: event.Entity{
					ID: now.BrandID, Name: now.Name, Aliases: now.Aliases, Domains: now.Domains,
				}, Revision: now.Revision,
			}
			a.Competitors = nil
			for _, c := range now.Competitors {
				a.Competitors = append(a.Competitors, event.Entity(c))
			}
			all = append(all, &a)
		}
	}
	return all
}

func (l *harness) compareWithFresh(t *testing.T) {
	t.Helper()
	answers := l.final(t)
	fresh := &service{db: l.db, warehouse: openClickHouse(t)}
	fresh.url = serve(t, fresh.db, fresh.warehouse)
	l.copyDimensions(t, fresh)
	landAll(t, release[sink.Answer]{sink.NewAnswers(fresh.warehouse, prometheus.NewRegistry(), logTo(t)), l.version},
		answers)
	filtered := pick(l.random, l.brands...)
	for _, slug := range l.brands {
		for _, target := range l.questions(slug, slug == filtered || testkit.All) {
			key := l.bearer(l.owners[slug])
			lived, wanted := l.body(t, l.service, target, key), l.body(t, fresh, target, key)
			if lived != wanted {
				t.Errorf("%s\nlived %s\nfresh %s", target, lived, wanted)
			}
		}
	}
	lived := l.results(t)
	if _, err := l.db.Exec(t.Context(),
		"DELETE FROM public.prompt_results WHERE brand_id = ANY ($1::uuid[])", l.brandIDs()); err != nil {
		t.Fatal(err)
	}
	writer := l.writer(t, l.version)
	landAll(t, writer, answers)
	if err := writer.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if wanted := l.results(t); !slices.Equal(lived, wanted) {
		t.Errorf("prompt_results, %d lived and %d fresh:\n%s", len(lived), len(wanted), difference(lived, wanted))
	}
}

func (l *harness) body(t *testing.T, of *service, target, key string) string {
	t.Helper()
	r := of.ask(t, http.MethodGet, target, key)
	if r.StatusCode != http.StatusOK {
		t.Fatal(target, r.StatusCode, r.body)
	}
	return r.body
}

// landAll hands answers to a target in batches.
func landAll[T any](t *testing.T, target consume.Target[T], answers []*event.Answer) {
	t.Helper()
	offset := int64(0)
	for some := range slices.Chunk(answers, 100) {
		b := &consume.Batch[T]{Topic: "fresh", First: offset}
		for _, a := range some {
			value, err := event.EncodeAnswer(nil, a)
			if err != nil {
				t.Fatal(err)
			}
			item, _, err := target.Decode(target.Version(), consume.Record{
				Topic: b.Topic, Offset: offset, Value: value, Time: today,
			})
			if err != nil {
				t.Fatal(err)
			}
			b.Items = append(b.Items, item)
			offset++
		}
		b.Last = offset - 1
		if err := target.Insert(t.Context(), b, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// copyDimensions gives a warehouse on the same server the names that the stage has.
func (l *harness) copyDimensions(t *testing.T, to *service) {
	t.Helper()
	var database string
	if err := l.warehouse.QueryRow(t.Context(), "SELECT currentDatabase()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{
		"dimension_brands", "dimension_competitors", "dimension_prompts", "dimension_topics",
	} {
		if err := to.warehouse.Exec(t.Context(),
			"INSERT INTO "+table+" SELECT * FROM "+database+"."+table); err != nil {
			t.Fatal(err)
		}
	}
}

// questions are all that the API is asked about answers of a brand, of the whole time and, if wanted, under a random
// filter.
func (l *harness) questions(slug string, filtered bool) (targets []string) {
	queries := []url.Values{{"date_from": {"2026-02-01"}, "date_to": {"2026-04-30"}}}
	if filtered {
		_, query := l.randomFilter(l.random, slug)
		queries = append(queries, query)
	}
	for _, query := range queries {
		query.Set("brand_id", l.ids[slug])
		for _, endpoint := range []string{
			"visibility-summary?", "visibility-trend?granularity=day&", "visibility-trend?granularity=week&",
			"entity-trend?granularity=month&", "competitor-comparison?",
			"filters?", "visibility-summary?group_by=topic&", "visibility-trend?group_by=model&",
			"competitor-comparison?group_by=platform&",
			"prompt-performance?limit=100&", "citations?limit=200&", "citations?source_filter=external&",
			"shopping-cards?limit=200&",
		} {
			targets = append(targets, "/api/v1/"+endpoint+query.Encode())
		}
	}
	return targets
}

// results are all rows of prompt_results, but for when they were written.
func (l *harness) results(t *testing.T) []string {
	t.Helper()
	rows, err := l.db.Query(t.Context(), "SELECT (to_jsonb(r) - 'updated_at')::text FROM public.prompt_results AS r "+
		"WHERE brand_id = ANY ($1::uuid[]) ORDER BY id", l.brandIDs())
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// difference is the first few lines that only one of them has.
func difference(lived, fresh []string) string {
	var lines []string
	for _, line := range lived {
		if !slices.Contains(fresh, line) {
			lines = append(lines, "lived "+line)
		}
	}
	for _, line := range fresh {
		if !slices.Contains(lived, line) {
			lines = append(lines, "fresh "+line)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[6:], b[6:]) })
	return strings.Join(lines[:min(len(lines), 6)], "\n")
}

// compareWithPlain holds the API to the plain computation over the same answers.
func (l *harness) compareWithPlain(t *testing.T) {
	t.Helper()
	for _, a := range l.final(t) {
		slug := l.slug(a)
		l.readings[slug] = append(l.readings[slug], readingOf(improved(a)))
	}
	l.compare(t)
}
