package advice

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// addAll adds answers of March 2026 for which each rule finds something, with landSite. Each prompt is asked under two
// topics.
func (s *set) addAll() {
	topics := []*uuid.UUID{new(idOf("topic", 1)), new(idOf("topic", 2))}
	ask := func(prompt string, day, times int, text string, citations ...string) {
		for i := range times {
			a := event.Answer{
				Prompt: s.prompt(prompt, "lamps"), Platform: "openai", Language: "en",
				AnsweredAt: at(day+i%2, 9), Text: text,
			}
			a.Prompt.TopicID = topics[i%2]
			for _, url := range citations {
				a.Citations = append(a.Citations, event.Citation{URL: url, Cited: true})
			}
			if len(s.answers) < 3 {
				a.SearchQueries = []string{"desk light", "Desk lights"}
			}
			s.add(a)
		}
	}
	ask("what is it like?", 2, 3, "Lumen lacks a dimmer.")
	ask("is it good?", 2, 3, "Lumen lacks a dimmer.")
	ask("where is a guide?", 2, 13, "Lumen", "https://lumen.example/guide", "https://www.lumen.example/guide/?x")
	ask("where is a shop?", 2, 12, "Lumen", "https://lumen.example/shop")
	for n := range 6 {
		ask(fmt.Sprint("which one is best? ", n), 4, 5, "1. **Nova Pro** is bright\n2. **Nova Max** is dim\n3. Glow",
			"https://paper.example/best", "https://www.paper.example/")
	}
}

// landSite inserts visits and crawls of the brand's site.
func (s *set) landSite(t *testing.T, conn *clickhouse.Conn) {
	t.Helper()
	var visits []*clickhouse.VisitRow
	for n := range 12 {
		visit := warehouse.Visit(int64(n), at(2, n).Time)
		visit.OrganizationID, visit.BrandID, visit.Path = clickhouse.UUID(s.brand.OrganizationID),
			clickhouse.UUID(s.brand.BrandID), "/shop"
		visits = append(visits, visit)
	}
	var crawls []clickhouse.CrawlRow
	for n := range 21 {
		crawl := warehouse.Crawl(int64(n), at(1+n%5, n).Time)
		crawl.OrganizationID, crawl.BrandID, crawl.Path, crawl.Purpose = clickhouse.UUID(s.brand.OrganizationID),
			clickhouse.UUID(s.brand.BrandID), "/new", "search"
		if n == 20 {
			crawl.Status = 404
		}
		crawls = append(crawls, crawl)
	}
	must(t, clickhouse.Visits.Insert(t.Context(), conn, fmt.Sprint("visits ", s.brand.BrandID),
		warehouse.Pack(visits...)))
	must(t, clickhouse.Crawls.Insert(t.Context(), conn, fmt.Sprint("crawls ", s.brand.BrandID), crawls))
}

func findJSON(t *testing.T, conn *clickhouse.Conn, s *set) string {
	t.Helper()
	all, err := find(t.Context(), conn, s.brand, Window{"2026-02-01", "2026-03-31"})
	must(t, err)
	text, err := json.MarshalIndent(all, "", " ")
	must(t, err)
	return string(text)
}

// Suggestions depend on a brand's answers alone: not on the order in which they landed, nor on a reading that was
// replaced, nor on the time zone of a connection, nor on a brand of another organization with the same names and texts.
func TestSuggestionsDependOnAnswersAlone(t *testing.T) {
	t.Parallel()
	brand := event.Entity{Name: "Lumen", Domains: []string{"lumen.example"}}
	s, twin := newSet("one", brand, event.Entity{Name: "Glow"}), newSet("other", brand, event.Entity{Name: "Glow"})
	twin.brand.OrganizationID = idOf("other organization")
	s.addAll()
	twin.addAll()
	twin.answers = twin.answers[:40]

	config := store.Warehouse(t)
	first, second := warehouse.Migrated(t), store.OpenWarehouse(t, config)
	land(t, first, rand.New(rand.NewPCG(1, 1)), false, s)
	land(t, second, rand.New(rand.NewPCG(2, 2)), true, twin, s)
	for _, conn := range []*clickhouse.Conn{first, second} {
		s.landSite(t, conn)
	}
	config.DSN += separatorOf(config.DSN) + "session_timezone=Pacific/Auckland"
	far := store.OpenWarehouse(t, config)
	want, zone := findJSON(t, first, s), ""
	must(t, far.QueryRow(t.Context(), "SELECT timezone()").Scan(&zone))
	if got := findJSON(t, far, s); got != want || zone != "Pacific/Auckland" {
		t.Errorf("in %s\ngot  %s\nwant %s", zone, got, want)
	}
	for _, key := range []string{
		idOf(s.brand.BrandID, "which one is best? 5").String(), "paper.example", "nova", "desk light", "dimmer",
		"cited:lumen.example/guide", "crawled:lumen.example/new",
	} {
		if !strings.Contains(want, `"key": "`+key+`"`) {
			t.Errorf("%s is not suggested: it proves too little", key)
		}
	}
	if findJSON(t, second, twin) == want {
		t.Error("the other brand has the same")
	}
}

func separatorOf(dsn string) string {
	if strings.Contains(dsn, "?") {
		return "&"
	}
	return "?"
}

// A batch that is landed twice, readings that are replaced by equal ones, and another time zone change no row and no
// status.
func TestReplayAndRereadChangeNoSuggestion(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	w.Advisor.find, w.clock = find, time.Date(2026, 4, 1, 3, 0, 0, 0, time.UTC)
	s := &set{}
	var err error
	s.brand, err = w.brand(t.Context(), w.brands[0].ID)
	must(t, err)
	s.addAll()
	_, err = w.db.AddPrompt(t.Context(), w.brands[0].ID, postgres.TrackedPrompt{
		Text: "of the set", Set: "s", Samples: 1,
	})
	must(t, err)
	for _, p := range s.brand.Prompts {
		w.exec(t, "INSERT INTO public.prompts (id, prompt_set_id, text) SELECT $1, id, $2 FROM public.prompt_sets "+
			"WHERE brand_id = $3", p.ID, p.Text, w.brands[0].ID)
	}
	land(t, w.warehouse, rand.New(rand.NewPCG(1, 1)), false, s)
	must(t, w.Advise(t.Context(), w.brands[0].ID))
	w.exec(t, "UPDATE public.suggestions SET status = CASE kind WHEN 'source' THEN 'dismissed' WHEN 'theme' THEN "+
		"'added' ELSE 'new' END")
	rows := func(db *postgres.DB) (text string) {
		must(t, db.QueryRow(t.Context(), "SELECT string_agg(concat_ws(' ', kind, key, status, score, evidence, "+
			"extract(epoch FROM expires_at), extract(epoch FROM updated_at)), E'\\n' ORDER BY kind, "+
			"key) FROM public.suggestions").Scan(&text))
		return text
	}
	before := rows(w.db)
	if strings.Count(before, "\n") < 8 {
		t.Fatalf("it proves too little: %s", before)
	}
	again := func(what string) {
		t.Helper()
		w.clock = w.clock.Add(5 * time.Minute)
		must(t, w.Advise(t.Context(), w.brands[0].ID))
		w.want(t, what, rows(w.db), before)
	}
	land(t, w.warehouse, rand.New(rand.NewPCG(1, 1)), false, s)
	again("replay")

	var corrections []clickhouse.AnswerRow
	for _, row := range s.rows(t, false) {
		row.Text, row.SearchQueries, row.RawProducts = "", nil, ""
		back, current := row, row
		back.Sign, current.Revision = -1, row.Revision+1
		corrections = append(corrections, back, current)
	}
	must(t, clickhouse.Answers.Insert(t.Context(), w.warehouse, "reread", corrections))
	again("reread")

	auckland, err := time.LoadLocation("Pacific/Auckland")
	must(t, err)
	root, err := pgx.Connect(t.Context(), w.dsn)
	must(t, err)
	defer root.Close(t.Context())
	_, err = root.Exec(t.Context(), "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone TO "+
		"''Pacific/Auckland''', current_database()); END $$")
	must(t, err)
	w.clock = w.clock.In(auckland)
	w.db.Reset()
	again("time zone")
	w.want(t, "zone", w.text(t, "SELECT current_setting('timezone')"), "Pacific/Auckland")
}

// Of 10,000 competitors answers carry the first ones; all are live.
func TestManyCompetitors(t *testing.T) {
	t.Parallel()
	var competitors []event.Entity
	for n := range 10_000 {
		competitors = append(competitors, event.Entity{
			Name: fmt.Sprintf("Maker%05d", n), Domains: []string{fmt.Sprintf("maker%d.example", n)},
		})
	}
	s := newSet("many", event.Entity{Name: "Lumen"}, competitors...)
	for n := range 6 {
		s.add(event.Answer{
			Prompt: s.prompt("which lamp?", ""), Platform: "openai", AnsweredAt: at(1+n, 9),
			Text: "1. Maker00007 is best\n2. Maker09999",
		})
	}
	conn := warehouse.Migrated(t)
	land(t, conn, rand.New(rand.NewPCG(1, 1)), true, s)
	all, err := find(t.Context(), conn, s.brand, always)
	must(t, err)
	gaps := all[slices.IndexFunc(all, func(r Result) bool { return r.Kind == KindGap })]
	if len(gaps.Suggestions) != 1 ||
		gaps.Suggestions[0].Text != `"which lamp?": Maker00007 is named in 6 of 6 answers, Lumen in 0.` {
		t.Errorf("gaps %+v", gaps)
	}
}

// The pages of a site are counted as by reading each answer, crawl and visit by itself, also where answers were first
// read before the site was the brand's.
func TestOwnedPagesEqualThePlainestComputation(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(29, 3))
	s := newSet("pages", event.Entity{Name: "Lumen", Domains: []string{"lumen.example"}})
	type counts struct{ crawls, days, citations, visits int }
	want := map[string]*counts{}
	count := func(page string) *counts {
		if want[page] == nil {
			want[page] = &counts{}
		}
		return want[page]
	}
	for n := range 60 {
		a := event.Answer{
			Prompt: s.prompt("which lamp?", ""), Platform: []string{"openai", "gemini-shopping"}[n%7/6],
			AnsweredAt: at(1+n%20, 9), Text: "Lumen",
		}
		pages := map[string]bool{}
		for range random.IntN(4) {
			page, isCited := fmt.Sprintf("lumen.example/%c", 'a'+random.IntN(4)), random.IntN(4) > 0
			address := []string{
				"https://" + page, "https://www." + page + "/", "http://" + page + "?x=1",
			}[random.IntN(3)]
			a.Citations = append(a.Citations, event.Citation{URL: address, Cited: isCited})
			pages[page] = pages[page] || isCited
		}
		for page, isCited := range pages {
			if isCited && a.Platform == "openai" {
				count(page).citations++
			}
		}
		s.add(a)
	}
	organization, brand := clickhouse.UUID(s.brand.OrganizationID), clickhouse.UUID(s.brand.BrandID)
	var crawls []clickhouse.CrawlRow
	var visits []*clickhouse.VisitRow
	days := map[string]bool{}
	for n := range 60 {
		path := fmt.Sprintf("/%c", 'b'+random.IntN(4))
		crawl, visit := warehouse.Crawl(int64(n), at(1+random.IntN(9), n%24).Time),
			warehouse.Visit(int64(n), at(1+n%20, n%24).Time)
		crawl.OrganizationID, crawl.BrandID, crawl.Path = organization, brand, path
		crawl.Purpose, crawl.Status = []string{"search", "user", "training"}[random.IntN(3)],
			[]uint16{200, 200, 404}[random.IntN(3)]
		visit.OrganizationID, visit.BrandID, visit.Path, visit.Event = organization, brand, path+"/",
			[]string{"view", "goal"}[random.IntN(2)]
		if crawl.Purpose != "training" && crawl.Status == 200 {
			page := count("lumen.example" + path)
			page.crawls++
			if key := fmt.Sprint(path, crawl.Day); !days[key] {
				days[key] = true
				page.days++
			}
		}
		if visit.Event == "view" {
			count("lumen.example"+path).visits++
		}
		crawls, visits = append(crawls, crawl), append(visits, visit)
	}
	conn := warehouse.Migrated(t)
	land(t, conn, random, true, s)
	must(t, clickhouse.Crawls.Insert(t.Context(), conn, "crawls", crawls))
	must(t, clickhouse.Visits.Insert(t.Context(), conn, "visits", warehouse.Pack(visits...)))
	rows, err := clickhouse.OwnedPages.All(t.Context(), conn, s.brand.filter(always))
	must(t, err)
	got := map[string]counts{}
	for _, r := range rows {
		got[r.Page] = counts{int(r.Crawls), int(r.CrawlDays), int(r.Citations), int(r.Visits)}
	}
	for page := range maps.Keys(want) {
		if got[page] != *want[page] {
			t.Errorf("%s: %+v, want %+v", page, got[page], *want[page])
		}
	}
	if len(got) != len(want) || len(want) != 5 {
		t.Errorf("%d pages, want %d", len(got), len(want))
	}
}
