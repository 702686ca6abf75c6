package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// lately is when what results call old begins, in these tests.
var lately = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// result is the n-th answer to a prompt, n hours after lately.
func result(b postgres.Brand, p postgres.Prompt, n int) postgres.Result {
	return postgres.Result{
		ID: uuid.NewV5(p.ID, fmt.Sprint(n)), PromptID: p.ID, BrandID: b.ID, OrganizationID: b.OrganizationID,
		Platform: "openai", Model: "m", Sample: 1, Response: "Acme",
		AnsweredAt: lately.Add(time.Duration(n) * time.Hour),
		Revision:   1, ExtractVersion: 1, Mentions: 1, Position: 1, Sentiment: "neutral", Visibility: 17,
	}
}

func keep(t *testing.T, db *postgres.DB, first ...postgres.Result) postgres.ResultCounts {
	t.Helper()
	added, _, err := db.StoreResults(t.Context(), first, nil, lately)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func keepRereads(t *testing.T, db *postgres.DB, rereads ...postgres.Result) postgres.ResultCounts {
	t.Helper()
	_, changed, err := db.StoreResults(t.Context(), nil, rereads, lately)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// prompts are so many of a brand.
func prompts(t *testing.T, db *postgres.DB, brand uuid.UUID, n int) []postgres.Prompt {
	t.Helper()
	wanted := make([]postgres.NewPrompt, n)
	for i := range wanted {
		wanted[i].Text = fmt.Sprintf("question %d", i)
	}
	prompts, err := db.EnsurePrompts(t.Context(), brand, wanted)
	if err != nil {
		t.Fatal(err)
	}
	return prompts
}

func TestAResultIsKeptWhole(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	b := added(t, db, organization(t, db, "House").ID, acme())
	p := prompts(t, db, b.ID, 1)[0]
	full := postgres.Result{
		ID: uuid.NewV5(p.ID, "full"), PromptID: p.ID, BrandID: b.ID, OrganizationID: b.OrganizationID,
		Platform: "openai", Model: "m\xff", ServedModel: "m-2", Provider: "cloro", Finish: "truncated", Region: "at",
		Sample: 1 << 40, Response: "Acme\x00 <b>\n東京", SearchQueries: []string{"anvils\x00", `"a"`},
		JobID: uuid.NewV5(p.ID, "job"), AnsweredAt: lately.Add(1234 * time.Millisecond),
		Revision: 1 << 40, ExtractVersion: 3, Mentions: 2, Citations: 1, Position: 2, Sentiment: "positive",
		Visibility: 65,
		Sources: []postgres.ResultSource{
			{"https://a.example/?q=<&>", "A\x00", true, "owned"}, {"https://b.example/", "", false, "editorial"},
		},
		Competitors: []postgres.ResultCompetitor{
			{ID: uuid.NewV5(p.ID, "named"), Name: "Zeta\x00", Mentions: 1, Citations: 1, Visibility: 32,
				Position: new(1)},
			{ID: uuid.NewV5(p.ID, "not named"), Name: "Eta"},
		},
	}
	bare := postgres.Result{
		ID: uuid.NewV5(p.ID, "bare"), PromptID: p.ID, BrandID: b.ID, OrganizationID: b.OrganizationID,
		Platform: "openai", Sample: 1, AnsweredAt: lately, Sentiment: "unknown",
	}
	if got := keep(t, db, full, bare); got != (postgres.ResultCounts{Live: 2, Current: 2, Added: 2}) {
		t.Errorf("kept %+v", got)
	}
	for id, want := range map[uuid.UUID]string{
		full.ID: `{"platform":"openai","model_used":"m�","served_model":"m-2","provider":"cloro",
			"finish":"truncated","region":"at","sample":1099511627776,"response":"Acme� <b>\n東京",
			"citations":[{"url":"https://a.example/?q=<&>","title":"A�","cited":true,
			"type":"owned"},{"url":"https://b.example/","title":"","cited":false,"type":"editorial"}],
			"mention_count":2,"citation_count":1,"mention_position":2,"sentiment":"positive","visibility_score":65,
			"competitor_mentions":[
				{"competitor_id":"` + uuid.NewV5(p.ID, "named").String() +
			`","name":"Zeta�","mention_count":1,"citation_count":1,"visibility_score":32,"mention_position":1},
				{"competitor_id":"` + uuid.NewV5(p.ID, "not named").String() +
			`","name":"Eta","mention_count":0,"citation_count":0,"visibility_score":0,"mention_position":null}],
			"search_queries":["anvils�","\"a\""],"job_id":"` +
			full.JobID.String() +
			`","revision":1099511627776,"extract_version":3,"created_at":"2026-03-01T00:00:01.234+00:00"}`,
		bare.ID: `{"platform":"openai","model_used":"","served_model":null,"provider":null,"finish":null,
			"region":"","sample":1,"response":"","citations":[],"mention_count":0,"citation_count":0,
			"mention_position":null,"sentiment":"unknown","visibility_score":0,"competitor_mentions":[],
			"search_queries":[],"job_id":null,"revision":0,"extract_version":0,
			"created_at":"2026-03-01T00:00:00+00:00"}`,
	} {
		got := one[map[string]any](t, root, "SELECT to_jsonb(r) - '{updated_at,id,prompt_id,brand_id,"+
			"organization_id}'::text[] FROM public.prompt_results AS r WHERE id = $1", id)
		var wanted map[string]any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("got  %v\nwant %v", got, wanted)
		}
	}
}

// The first result counts, until there is a reread with later names or by a later reader.
func TestAResultChangesOnlyByANewerReread(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	b := added(t, db, organization(t, db, "House").ID, acme())
	p := prompts(t, db, b.ID, 1)[0]
	reading := func(revision int64, version, mentions int) postgres.Result {
		r := result(b, p, 1)
		r.Revision, r.ExtractVersion, r.Mentions, r.Response = revision, version, mentions,
			fmt.Sprintf("first with %d", mentions)
		return r
	}
	for _, c := range []struct {
		keep  func(*testing.T, *postgres.DB, ...postgres.Result) postgres.ResultCounts
		r     postgres.Result
		means postgres.ResultCounts
		shows string
	}{
		{keep, reading(2, 2, 1), postgres.ResultCounts{Added: 1}, "1 first with 1"},
		{keep, reading(3, 3, 2), postgres.ResultCounts{}, "1 first with 1"},
		{keepRereads, reading(2, 2, 3), postgres.ResultCounts{}, "1 first with 1"},
		{keepRereads, reading(1, 3, 3), postgres.ResultCounts{}, "1 first with 1"},
		{keepRereads, reading(2, 3, 4), postgres.ResultCounts{Changed: 1}, "4 first with 1"},
		{keepRereads, reading(2, 3, 5), postgres.ResultCounts{}, "4 first with 1"},
		{keepRereads, reading(3, 1, 6), postgres.ResultCounts{Changed: 1}, "6 first with 1"},
	} {
		c.means.Live, c.means.Current = 1, 1
		if got := c.keep(t, db, c.r); got != c.means {
			t.Errorf("%d.%d: kept %+v, want %+v", c.r.Revision, c.r.ExtractVersion, got, c.means)
		}
		if shows := one[string](t, root,
			"SELECT mention_count || ' ' || response FROM public.prompt_results"); shows != c.shows {
			t.Errorf("%d.%d: shows %q, want %q", c.r.Revision, c.r.ExtractVersion, shows, c.shows)
		}
	}
	missing := result(b, p, 2)
	if got := keepRereads(t, db, missing); got.Added != 1 {
		t.Errorf("a reread of what is not there: %+v", got)
	}
	foreign := reading(9, 9, 9)
	second := added(t, db, b.OrganizationID, postgres.NewBrand{Name: "Second"})
	foreign.BrandID, foreign.PromptID = second.ID, prompts(t, db, second.ID, 1)[0].ID
	if got := keepRereads(t, db, foreign); got.Changed != 0 {
		t.Errorf("another brand's answer of the same id changed it: %+v", got)
	}
}

func TestResultsHangOnPromptAndBrand(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	b := w.own.brand
	p := prompts(t, w.db, b.ID, 2)
	orphans := map[string]func(*postgres.Result){
		"no such prompt":       func(r *postgres.Result) { r.PromptID = uuid.Must(uuid.NewV4()) },
		"no such brand":        func(r *postgres.Result) { r.BrandID = uuid.Must(uuid.NewV4()) },
		"no such organization": func(r *postgres.Result) { r.OrganizationID = uuid.Must(uuid.NewV4()) },
		"another's prompt": func(r *postgres.Result) {
			r.PromptID = prompts(t, w.db, w.other.brand.ID, 1)[0].ID
		},
		"another's brand":         func(r *postgres.Result) { r.BrandID = w.other.brand.ID },
		"our brand as if foreign": func(r *postgres.Result) { r.OrganizationID = w.other.organization.ID },
		"another's, but our brand": func(r *postgres.Result) {
			r.OrganizationID, r.PromptID = w.other.organization.ID, prompts(t, w.db, w.other.brand.ID, 1)[0].ID
		},
	}
	for name, spoil := range orphans {
		r := result(b, p[0], 1)
		spoil(&r)
		if got := keep(t, w.db, r); got != (postgres.ResultCounts{}) {
			t.Errorf("%s: kept %+v", name, got)
		}
	}
	keep(t, w.db, result(b, p[0], 1), result(b, p[1], 1))
	left := func() int64 {
		return one[int64](t, w.root, "SELECT count(*) FROM public.prompt_results WHERE organization_id = $1",
			w.own.organization.ID)
	}
	for _, c := range []struct {
		text string
		id   uuid.UUID
		want int64
	}{
		{"DELETE FROM public.prompts WHERE id = $1", p[0].ID, 2},
		{"DELETE FROM public.brands WHERE id = $1", b.ID, 0},
	} {
		if _, err := w.root.Exec(t.Context(), c.text, c.id); err != nil {
			t.Fatal(err)
		}
		if n := left(); n != c.want {
			t.Errorf("%s: %d results are left, want %d", c.text, n, c.want)
		}
	}
	if got := keep(t, w.db, result(b, p[1], 2)); got != (postgres.ResultCounts{}) {
		t.Errorf("a late one of a deleted brand: %+v", got)
	}
}

// A deletion has locked a prompt and comes for its results, of which the writer has some: if the writer waited for it,
// each would wait for the other, and the server might end the client's.
func TestAWriterNeverWaitsForADeletion(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	b := added(t, db, organization(t, db, "House").ID, acme())
	p := prompts(t, db, b.ID, 1)[0]
	for _, text := range []string{
		"DELETE FROM public.prompts WHERE id = $1",
		"DELETE FROM public.brands WHERE id = (SELECT brand_id FROM public.prompts WHERE id = $1)",
	} {
		tx, err := root.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), text, p.ID); err != nil {
			t.Fatal(err)
		}
		_, _, err = db.StoreResults(t.Context(), []postgres.Result{result(b, p, 1)}, nil, lately)
		if err == nil || errors.Is(err, postgres.ErrRefused) || !strings.Contains(err.Error(), "55P03") {
			t.Errorf("beside %s: %v", text, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := root.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), "UPDATE public.brands SET name = 'Edited'"); err != nil {
		t.Fatal(err)
	}
	keep(t, db, result(b, p, 1)) // an edit blocks no writer
}

func TestOldResultsStayOnlyAsTheNewestOfTheirPair(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	b := added(t, db, organization(t, db, "House").ID, acme())
	p := prompts(t, db, b.ID, 2)
	stored := func() []string {
		return list[string](t, root, `
			SELECT substr(p.text, 10) || ' ' || r.platform || ' ' || (extract(epoch
				FROM r.created_at - $1::timestamptz) / 3600)::int
			FROM public.prompt_results AS r JOIN public.prompts AS p ON p.id = r.prompt_id ORDER BY p.text,
				r.platform, r.created_at`, lately)
	}
	want := func(want ...string) {
		t.Helper()
		if got := stored(); !slices.Equal(got, want) {
			t.Errorf("there are %q, want %q", got, want)
		}
	}
	at := func(prompt, hour int) postgres.Result { return result(b, p[prompt], hour) }
	gemini := at(0, -7)
	gemini.Platform, gemini.ID = "gemini", uuid.NewV5(gemini.ID, "gemini")

	if got := keep(t, db, at(0, -3), at(0, -2), at(1, -9),
		gemini); got != (postgres.ResultCounts{Live: 4, Current: 3, Added: 3}) {
		t.Errorf("kept %+v", got)
	}
	want("0 gemini -7", "0 openai -2", "1 openai -9")
	keep(t, db, at(0, -1)) // a history in its order leaves one row
	want("0 gemini -7", "0 openai -1", "1 openai -9")
	if got := keep(t, db, at(0, -2)); got != (postgres.ResultCounts{Live: 1}) {
		t.Errorf("an older one: %+v", got)
	}
	if got := keepRereads(t, db, at(0, -2)); got != (postgres.ResultCounts{Live: 1}) {
		t.Errorf("an older one read again: %+v", got)
	}
	keep(t, db, at(0, 0), at(0, 1), at(0, 2), at(1, 1))
	want("0 gemini -7", "0 openai -1", "0 openai 0", "0 openai 1", "0 openai 2", "1 openai -9", "1 openai 1")
	for _, pruned := range []int64{3, 1, 0} {
		n, err := db.PruneResults(t.Context(), lately.Add(90*time.Minute), 3)
		if err != nil || n != pruned {
			t.Fatalf("pruned %d, %v; want %d", n, err, pruned)
		}
	}
	want("0 gemini -7", "0 openai 2", "1 openai 1")
}

// Of rows that Postgres cannot keep the error says so, and nothing is kept.
func TestAResultThatCannotBeKeptIsRefused(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	b := added(t, db, organization(t, db, "House").ID, acme())
	p := prompts(t, db, b.ID, 1)[0]
	for name, spoil := range map[string]func(*postgres.Result){
		"a platform of 600 bytes": func(r *postgres.Result) { r.Platform = strings.Repeat("x", 600) },
		"an unknown sentiment":    func(r *postgres.Result) { r.Sentiment = "bored" },
		"a time beyond its type": func(r *postgres.Result) {
			r.AnsweredAt = time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)
		},
	} {
		bad := result(b, p, 2)
		spoil(&bad)
		if _, _, err := db.StoreResults(t.Context(),
			[]postgres.Result{result(b, p, 1), bad}, nil, lately); !errors.Is(err, postgres.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := one[int64](t, root, "SELECT count(*) FROM public.prompt_results"); n != 0 {
		t.Errorf("%d rows", n)
	}
}

func TestTheLatestResultOfEachPromptAndPlatform(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	b := w.own.brand
	p := prompts(t, w.db, b.ID, 2)
	var all []postgres.Result
	for n := range 6 {
		r := result(b, p[n%2], n)
		r.Platform = []string{"openai", "openai", "gemini"}[n%3]
		all = append(all, r)
	}
	sibling := all[5]
	sibling.ID[15]++ // two of one instant
	all = append(all, sibling)
	keep(t, w.db, all...)
	index := func(id uuid.UUID) int {
		return slices.IndexFunc(all, func(r postgres.Result) bool { return r.ID == id })
	}
	newest := 5
	if sibling.ID.String() > all[5].ID.String() {
		newest = 6
	}
	for name, c := range map[string]struct {
		args string
		want []int
	}{
		"all":         {"p_brand_id => $1", []int{newest, 4, 3, 2}},
		"one":         {"p_brand_id => $1, p_platform => 'gemini'", []int{newest, 2}},
		"null is all": {"$1, NULL", []int{newest, 4, 3, 2}},
		"none":        {"$1, 'other'", nil},
	} {
		got := w.latest(t, w.own, c.args, b.ID)
		var places []int
		for _, id := range got {
			if i := index(id); i >= 0 { // the environment has one of its own
				places = append(places, i)
			}
		}
		if !slices.Equal(places, c.want) {
			t.Errorf("%s: %v, want %v", name, places, c.want)
		}
	}
	if got := w.latest(t, w.other, "$1", b.ID); len(got) > 0 {
		t.Errorf("another organization sees %v", got)
	}
	if got := w.as(t, "anon", `{"role":"anon"}`,
		"SELECT public.get_latest_prompt_results($1)", b.ID); got.code != "42501" {
		t.Errorf("anon calls it: %+v", got)
	}
}

// latest is what get_latest_prompt_results returns to a viewer of a fixture.
func (w *environment) latest(t *testing.T, v fixture, args string, brand uuid.UUID) (ids []uuid.UUID) {
	t.Helper()
	err := asUser(t, w.db, v.users["viewer"], func(tx pgx.Tx) error {
		rows, err := tx.Query(t.Context(), "SELECT id FROM public.get_latest_prompt_results("+args+")", brand)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// What an earlier reader read is found in the order of its index, whatever is alike.
func TestOutdatedResultsAreReadInTheOrderOfTheIndex(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	b := added(t, db, organization(t, db, "House").ID, acme())
	p := prompts(t, db, b.ID, 1)[0]
	want := map[uuid.UUID]bool{}
	for n := range 60 {
		r := result(b, p, n)
		r.AnsweredAt = lately.Add(time.Duration(n/20) * time.Hour) // three instants
		if n%6 == 0 {
			r.ExtractVersion = 2
		} else {
			want[r.ID] = true
		}
		keep(t, db, r)
	}
	var last *postgres.OutdatedResult
	for len(want) > 0 {
		page, err := db.OutdatedResults(t.Context(), b.ID, 2, last, 7)
		if err != nil || len(page) == 0 {
			t.Fatalf("%d are not found: %v", len(want), err)
		}
		for i := range page {
			if last = &page[i]; !want[last.ID] {
				t.Errorf("%s is found twice, or is not outdated", last.ID)
			}
			delete(want, last.ID)
		}
	}
	if page, err := db.OutdatedResults(t.Context(), b.ID, 2, last, 7); err != nil || len(page) != 0 {
		t.Errorf("behind the last %v, %v", page, err)
	}
	text, err := os.ReadFile("query/outdated_results.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.Exec(t.Context(), "SET enable_seqscan = off; SET enable_bitmapscan = off"); err != nil {
		t.Fatal(err)
	}
	plan := strings.Join(list[string](t, root, "EXPLAIN "+string(text), b.ID, 2, last.CreatedAt, last.ID, 7), "\n")
	if strings.Contains(plan, "Sort") || !strings.Contains(plan, "prompt_results_brand_id_idx") {
		t.Errorf("want the index and no sort:\n%s", plan)
	}
}
