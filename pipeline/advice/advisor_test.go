package advice

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// An advised is an installation with two organizations, each with a brand of the same name, and a clock.
type advised struct {
	*Advisor
	dsn    string // of a superuser
	clock  time.Time
	kind   string // of what is found
	brands [2]postgres.Brand
	found  map[uuid.UUID][]Suggestion // that a rule finds, by brand
}

func newAdvised(t *testing.T) *advised {
	t.Helper()
	w := &advised{clock: time.Now().UTC().Truncate(time.Second), kind: KindTheme, found: map[uuid.UUID][]Suggestion{}}
	cfg := store.ControlPlane(t)
	db, warehouse := store.OpenControlPlane(t, cfg), store.OpenWarehouse(t, store.Warehouse(t))
	w.dsn = cfg.DSN
	w.Advisor = New(db, warehouse, func() time.Time { return w.clock }, slog.New(slog.NewTextHandler(t.Output(), nil)))
	w.pause = func(context.Context, time.Duration) error { return nil }
	w.Advisor.find = func(_ context.Context, _ *clickhouse.Conn, brand Brand, _ Window) ([]Result, error) {
		all := slices.Clone(w.found[brand.BrandID])
		return []Result{{Total: Total{Kind: w.kind, Found: len(all)}, Suggestions: all}}, nil
	}
	for i, slug := range []string{"acme", "rival"} {
		org, err := db.AddOrganization(t.Context(), slug, slug)
		must(t, err)
		w.brands[i], _, err = db.AddBrand(t.Context(), org.ID, postgres.NewBrand{
			Name: "Lumen", Slug: "lumen", Competitors: []postgres.NewCompetitor{{Name: "Glow"}},
		})
		must(t, err)
	}
	// there is nothing to reread
	w.exec(t, "UPDATE private.rereads SET asked_at = NULL, due_at = NULL, started_at = now(), finished_at = now()")
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *advised) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	_, err := w.db.Exec(t.Context(), statement, args...)
	must(t, err)
}

// text returns one text that a statement selects.
func (w *advised) text(t *testing.T, statement string, args ...any) (text string) {
	t.Helper()
	must(t, w.db.QueryRow(t.Context(), "SELECT coalesce(("+statement+")::text, '')", args...).Scan(&text))
	return text
}

// compute lets a rule find names with scores, computes the first brand and returns its suggestions.
func (w *advised) compute(t *testing.T, names ...any) string {
	t.Helper()
	w.find(0, names...)
	must(t, w.Advise(t.Context(), w.brands[0].ID))
	return w.list(t, 0)
}

func (w *advised) find(brand int, names ...any) {
	var all []Suggestion
	for i := 0; i < len(names); i += 2 {
		name := names[i].(string)
		all = append(all, Suggestion{
			Kind: w.kind, Key: name, Text: name, Score: names[i+1].(float64), Evidence: map[string]int{"answers": 7},
		})
	}
	w.found[w.brands[brand].ID] = all
}

// list has the key, status and score of each suggestion of a brand that has not expired.
func (w *advised) list(t *testing.T, brand int) string {
	t.Helper()
	return w.text(t, `SELECT string_agg(concat_ws(' ', key, status, score), ', ' ORDER BY key) FROM public.suggestions
		WHERE brand_id = $1 AND expires_at > $2`, w.brands[brand].ID, w.clock)
}

func (w *advised) want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A repeat changes no row, and tells nothing, whatever the clock's time zone; what is found no more drops off after 14
// days, and is deleted 30 days later.
func TestARepeatChangesNothing(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	w.want(t, "first", w.compute(t, "beam", 2.5, "dusk", 1.0), "beam new 2.5, dusk new 1")
	const rows = "SELECT md5(string_agg(s::text, '/' ORDER BY id)) FROM public.suggestions AS s"
	before := w.text(t, rows)
	const window = "SELECT concat_ws(' ', date_from, date_to) FROM private.advice_runs"
	days := w.text(t, window)
	for _, hours := range []int{0, -12, 14} { // of the clock's time zone
		w.clock = w.clock.In(time.FixedZone("", hours*60*60))
		w.compute(t, "beam", 2.5, "dusk", 1.0)
		w.want(t, "rows", w.text(t, rows), before)
		w.want(t, "window", w.text(t, window), days)
		w.clock = w.clock.Add(time.Minute)
	}
	w.want(t, "events",
		w.text(t, "SELECT string_agg(data ->> 'count', ',') FROM public.events WHERE type = 'suggestions.created'"),
		"2")

	w.want(t, "changed", w.compute(t, "beam", 3.5), "beam new 3.5, dusk new 1")
	w.clock = w.clock.AddDate(0, 0, 14)
	w.want(t, "expired", w.compute(t, "beam", 3.5), "beam new 3.5")
	w.clock = w.clock.AddDate(0, 0, 31)
	must(t, w.Nightly(t.Context()))
	w.want(t, "deleted", w.text(t, "SELECT string_agg(key, ',') FROM public.suggestions"), "beam")
}

// A dismissed suggestion stays so over 89 days with any score, and over 90 days with a score less than twice as high.
func TestADismissedSuggestionReopens(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	w.compute(t, "beam", 2.0, "dusk", 2.0)
	w.exec(t, "UPDATE public.suggestions SET status = 'dismissed' WHERE key = 'beam'")
	w.exec(t, "UPDATE public.suggestions SET status = 'added' WHERE key = 'dusk'")
	status := func(days int, score float64) string {
		w.clock = time.Now().AddDate(0, 0, days)
		w.compute(t, "beam", score, "dusk", score)
		return w.text(t, "SELECT string_agg(concat_ws(' ', key, status, score, dismissed_score), ', ' ORDER BY key) "+
			"FROM public.suggestions")
	}
	w.want(t, "89 days", status(89, 9), "beam dismissed 2 2, dusk added 9")
	w.want(t, "90 days", status(91, 3.9), "beam dismissed 2 2, dusk added 3.9")
	w.want(t, "twice the score", status(91, 4), "beam new 4, dusk added 4")
}

// What a person gives back to the list is on it, also if it has expired.
func TestBackToNewIsListed(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	w.compute(t, "beam", 2.0, "dusk", 1.0)
	w.exec(t, "UPDATE public.suggestions SET expires_at = now() - INTERVAL '1 day', status = CASE key WHEN 'beam' "+
		"THEN 'added' ELSE 'dismissed' END")
	w.want(t, "expired", w.list(t, 0), "")
	w.exec(t, "UPDATE public.suggestions SET status = 'new'")
	w.want(t, "back", w.list(t, 0), "beam new 2, dusk new 1")
}

// A computation that began before another one, and ends after it, changes nothing.
func TestAnOlderComputationChangesNothing(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	w.compute(t, "beam", 2.0)
	run := w.text(t, "SELECT string_agg(r::text, '/') FROM private.advice_runs AS r")
	w.clock = w.clock.Add(-time.Minute)
	w.want(t, "older", w.compute(t, "beam", 1.0, "dusk", 1.0), "beam new 2")
	w.want(t, "run", w.text(t, "SELECT string_agg(r::text, '/') FROM private.advice_runs AS r"), run)
}

// Values that the table refuses are left out and counted, and stop nothing: texts, keys and evidence that are too long,
// and a key that another one has once zero bytes and broken UTF-8 are replaced.
func TestRefusedValuesAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	long := strings.Repeat
	w.find(0, "beam", 9.0, "zero\x00", 8.0, "zero\xff", 7.0, "", 6.0, long("k", 512), 5.0, long("l", 513), 4.0, "text",
		3.0, "reason", 2.0, "evidence", 1.0, "list", 0.5)
	all := w.found[w.brands[0].ID]
	all[0].Text, all[0].Reason, all[0].Evidence = long("t", 2000), long("r", 8192),
		map[string]string{"url": long("u", 31_900)}
	all[1].Evidence = map[string]string{"title": "a\x00b\xff<>&\u2028"}
	all[4].Text = "at most as long as an index takes"
	all[6].Text = long("é", 1001)
	all[7].Reason = long("r", 8193)
	all[8].Evidence = map[string]string{"url": long("u", 32_500)}
	all[9].Evidence = map[string][]int{"numbers": make([]int, 16_000)} // with a blank after each comma
	must(t, w.Advise(t.Context(), w.brands[0].ID))
	w.want(t, "keys", w.text(t, "SELECT string_agg(left(key, 5), ',' ORDER BY score DESC) FROM public.suggestions"),
		"beam,zero\uFFFD,kkkkk")
	w.want(t, "reasons", w.text(t, "SELECT reasons FROM private.advice_runs"),
		`[{"have": 3, "kind": "theme", "need": 10, "reason": "too_long"}]`)
	w.want(t, "totals", w.text(t, "SELECT totals FROM private.advice_runs"),
		`[{"of": 10, "kind": "theme", "shown": 3, "tried": 0, "expected": 0}]`)
}

// An event has the best suggestions of each kind first.
func TestAnEventHasTheBest(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	var names []any
	for n := range 25 {
		names = append(names, fmt.Sprint("n", n), float64(n))
	}
	w.find(0, append(names, "gap", 0.5)...)
	w.found[w.brands[0].ID][25].Kind = KindGap
	must(t, w.Advise(t.Context(), w.brands[0].ID))
	w.want(t, "event",
		w.text(t,
			`SELECT concat_ws(' ', data ->> 'count', data ->> 'more',
				jsonb_path_query_array(data, '$.suggestions[0 to 2].text'),
		data #>> '{suggestions,19,text}') FROM public.events WHERE type = 'suggestions.created'`),
		`26 6 ["gap", "n24", "n23"] n6`)
}

// A name that becomes a competitor's was added, and is new when it is found again since its competitor was deleted. A
// row whose rival is deleted expires, and a gap whose prompt is not asked any more.
func TestEditsSettleSuggestions(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	w.kind = KindCompetitor
	w.compute(t, "beam", 2.0, "dusk", 1.0)
	w.exec(t, "UPDATE public.suggestions SET evidence = jsonb_build_object('rival', jsonb_build_object('id', "+
		"gen_random_uuid())) WHERE key = 'dusk'")
	must(t, w.db.AddCompetitor(t.Context(), w.brands[0].ID, postgres.NewCompetitor{Name: "BEAM"}))
	w.want(t, "edited", w.compute(t), "beam added 2")
	w.exec(t, "DELETE FROM public.competitors WHERE name = 'BEAM'")
	w.want(t, "not found", w.compute(t), "beam added 2")
	w.want(t, "found again", w.compute(t, "beam", 2.0), "beam new 2")
	w.exec(t, "DELETE FROM public.competitors")
	w.want(t, "without competitors", w.compute(t, "dawn", 1.0), "beam new 2, dawn new 1")

	w.kind = KindGap
	prompt, err := w.db.AddPrompt(t.Context(), w.brands[0].ID, postgres.TrackedPrompt{Text: "p", Set: "s", Samples: 1})
	must(t, err)
	w.compute(t, prompt.String(), 3.0)
	gaps := func() string {
		return w.text(t, "SELECT string_agg(concat_ws(' ', status, expires_at > $1), ',') FROM public.suggestions "+
			"WHERE kind = 'gap'", w.clock)
	}
	w.want(t, "gap", gaps(), "new t")
	w.exec(t, "UPDATE public.prompts SET is_active = false")
	w.compute(t)
	w.want(t, "not asked", gaps(), "new f")
}

// A computation whose connection is cut between its writes and its commit leaves rows, statuses, events and its record
// as they were; the next one computes the same.
func TestAKilledComputationLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	w.kind = KindCompetitor
	w.compute(t, "beam", 2.5, "dusk", 1.0, "glow", 1.0)
	w.exec(t, "UPDATE public.suggestions SET status = CASE key WHEN 'beam' THEN 'dismissed' ELSE 'new' END")
	state := func() string {
		return w.text(t,
			`SELECT concat((SELECT string_agg(s::text, '/' ORDER BY key) FROM public.suggestions AS s),
				(SELECT string_agg(r::text, '/') FROM private.advice_runs AS r),
			(SELECT count(*) FROM public.events WHERE type = 'suggestions.created'))`)
	}
	before := state()
	// The last write of a computation waits for this lock, so that all others are done and none is committed.
	holder, err := w.db.Begin(t.Context())
	must(t, err)
	// a tracked name, which is to be added
	_, err = holder.Exec(t.Context(), "SELECT FROM public.suggestions WHERE key = 'glow' FOR UPDATE")
	must(t, err)
	w.find(0, "dusk", 3.0, "glint", 4.0)
	done := make(chan error, 1)
	go func() { done <- w.Advise(t.Context(), w.brands[0].ID) }()
	root, err := pgx.Connect(t.Context(), w.dsn)
	must(t, err)
	defer root.Close(t.Context())
	wait.For(t, "the computation to be cut before its commit", func() (cut bool) {
		must(t, root.QueryRow(t.Context(),
			`SELECT coalesce(bool_or(pg_terminate_backend(pid)), false) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '-- settle_suggestions%'`).
			Scan(&cut))
		return cut
	})
	if err := <-done; err == nil {
		t.Error("a computation that was cut says that it is done")
	}
	must(t, holder.Rollback(t.Context()))
	w.want(t, "cut", state(), before)
	w.want(t, "again", w.compute(t, "dusk", 3.0, "glint", 4.0),
		"beam dismissed 2.5, dusk new 3, glint new 4, glow added 1")
}

// Two brands of the same name with the same findings share nothing.
func TestOrganizationsShareNoSuggestions(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	w.find(0, "beam", 2.0)
	w.find(1, "beam", 2.0, "dusk", 1.0)
	must(t, w.Changed(t.Context()))
	w.exec(t, "UPDATE public.suggestions SET status = 'dismissed' WHERE brand_id = $1", w.brands[0].ID)
	must(t, w.Nightly(t.Context()))
	w.want(t, "acme", w.list(t, 0), "beam dismissed 2")
	w.want(t, "rival", w.list(t, 1), "beam new 2, dusk new 1")
	w.want(t, "events", w.text(t, "SELECT string_agg(concat_ws(' ', o.slug, e.data ->> 'count'), ', "+
		"' ORDER BY o.slug) FROM public.events AS e JOIN public.organizations AS o ON o.id = e.organization_id "+
		"WHERE e.type = 'suggestions.created'"), "acme 1, rival 2")
}

// A brand is computed when an answer landed or a prompt was edited, and not while more are landing, nor while answers
// have readings with other names.
func TestChangedBrandsAreComputed(t *testing.T) {
	t.Parallel()
	w := newAdvised(t)
	after := func(task func(context.Context) error) string {
		t.Helper()
		w.exec(t, "UPDATE private.advice_runs SET computed_at = '2020-01-01'")
		must(t, task(t.Context()))
		return w.text(t, "SELECT string_agg(o.slug, ',' ORDER BY o.slug) FROM private.advice_runs AS r JOIN "+
			"public.organizations AS o ON o.id = r.organization_id WHERE r.computed_at > '2021-01-01'")
	}
	land := func(revision int) {
		must(t, w.warehouse.Exec(t.Context(), fmt.Sprintf("INSERT INTO answers (organization_id, brand_id, day, id, "+
			"sign, revision, extract_version) VALUES ('%s', '%s', '2026-03-02', generateUUIDv4(), 1, %d, 99)",
			w.brands[0].OrganizationID, w.brands[0].ID, revision)))
	}
	w.want(t, "first", after(w.Changed), "acme,rival")
	w.want(t, "nothing changed", after(w.Changed), "")
	land(99)
	w.pause = func(context.Context, time.Duration) error { land(99); return nil }
	w.want(t, "not quiet", after(w.Changed), "")
	w.pause = func(context.Context, time.Duration) error { return nil }
	w.want(t, "landed", after(w.Changed), "acme")
	_, err := w.db.AddPrompt(t.Context(), w.brands[1].ID, postgres.TrackedPrompt{Text: "new", Set: "s", Samples: 1})
	must(t, err)
	w.want(t, "prompt", after(w.Changed), "rival")
	land(0)
	w.want(t, "stale", after(w.Changed), "")
	w.want(t, "stale at night", after(w.Nightly), "rival")
	w.exec(t, "UPDATE public.brands SET is_active = false")
	w.want(t, "not active", after(w.Nightly), "")
}
