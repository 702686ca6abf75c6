package notify_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A watched is an installation with an organization, and a clock.
type watched struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	org       postgres.Organization
	now       time.Time
}

var day = time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{
		db: store.OpenControlPlane(t, store.ControlPlane(t)), warehouse: store.OpenWarehouse(t, store.Warehouse(t)),
		now: day.Add(25 * time.Hour),
	}
	var err error
	w.org, err = w.db.AddOrganization(t.Context(), "Acme", "acme")
	must(t, err)
	return w
}

func (w *watched) clock() time.Time { return w.now }

func (w *watched) judge(t *testing.T) *notify.Reporter {
	return notify.NewReporter(w.db, w.warehouse, w.clock, slog.New(slog.NewTextHandler(t.Output(), nil)))
}

// addBrand adds a brand with answers of 120 days up to a day.
func (w *watched) addBrand(t *testing.T, slug string, last time.Time, mentioned string) postgres.Brand {
	t.Helper()
	brand, _, err := w.db.AddBrand(t.Context(), w.org.ID, postgres.NewBrand{Name: strings.ToUpper(slug[:1]) + slug[1:],
		Slug: slug})
	must(t, err)
	w.exec(t, "UPDATE public.brands SET created_at = '2026-01-01' WHERE id = $1", brand.ID)
	w.answer(t, brand, last, 120, mentioned)
	return brand
}

// answer adds an answer a day to each of 8 prompts on two platforms, on some days up to a day. mentioned is SQL: does
// an
// answer name the brand, n days before that?
func (w *watched) answer(t *testing.T, brand postgres.Brand, last time.Time, days int, mentioned string) {
	t.Helper()
	for table, columns := range map[string][2]string{"brand_prompt_daily": {},
		"entity_prompt_daily": {", entity_id", ", brand_id"}} {
		must(t, w.warehouse.Exec(t.Context(), fmt.Sprintf(`
			INSERT INTO %s (organization_id, brand_id, prompt_id, platform, day, runs, answers, mention_answers%s)
			SELECT '%s', toUUID('%s') AS brand_id, toUUID(leftPad(toString(number %% 8), 32, '0')), ['gemini',
				'openai'][1 + intDiv(number, 8) %% 2] AS platform,
				toDate('%s') - (intDiv(number, 16) AS n), 1, 1, %s%s
			FROM numbers(16 * %d)`,
			table, columns[0], w.org.ID, brand.ID, last.Format(time.DateOnly), mentioned, columns[1], days)))
	}
}

const (
	noise = "cityHash64(number, 5) % 2"
	usual = "cityHash64(number) % 8 > 0"
)

// exec changes PostgreSQL past every trigger and policy.
func (w *watched) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	must(t, pgx.BeginFunc(t.Context(), w.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SET LOCAL ROLE NONE")
		if err == nil {
			_, err = tx.Exec(t.Context(), "SET LOCAL session_replication_role = replica")
		}
		if err == nil {
			_, err = tx.Exec(t.Context(), statement, args...)
		}
		return err
	}))
}

// events returns the data of events of a type, in their order.
func (w *watched) events(t *testing.T, kind string) (list []string) {
	t.Helper()
	rows, err := w.db.Query(t.Context(), "SELECT data::text FROM public.events WHERE type = $1 ORDER BY at, id", kind)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		must(t, rows.Scan(&text))
		list = append(list, text)
	}
	must(t, rows.Err())
	return list
}

func (w *watched) count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	must(t, w.db.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A brand that lost its mentions on openai 6 days ago is told of once: as a move of all answers and of that platform,
// with the figures that /api/v1 has, however many processes judge at once.
func TestADropIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	lumen := w.addBrand(t, "lumen", day, "if(n < 6 AND platform = 'openai', 0, "+usual+")")
	w.addBrand(t, "steady", day, noise)
	w.addBrand(t, "ended", day.AddDate(0, 0, -1), "n > 6") // no answers of the day
	away := w.addBrand(t, "away", day, "n > 6")
	w.exec(t, "UPDATE public.brands SET is_active = false WHERE id = $1", away.ID)
	var judges errgroup.Group
	for range 4 {
		judge := w.judge(t)
		judges.Go(func() error { return judge.Hourly(t.Context()) })
	}
	must(t, judges.Wait())
	must(t, w.judge(t).Hourly(t.Context()))

	events := w.events(t, feed.VisibilityMoved)
	if len(events) != 1 {
		t.Fatalf("events %q", events)
	}
	var moved feed.Moved
	must(t, json.Unmarshal([]byte(events[0]), &moved))
	if moved.Brand != (feed.Brand{ID: lumen.ID, Name: "Lumen", Slug: "lumen"}) || moved.Day != "2026-11-25" ||
		moved.Window != (feed.Days{From: "2026-10-29", To: "2026-11-25"}) ||
		moved.Before != (feed.Days{From: "2026-10-01", To: "2026-10-28"}) {
		t.Errorf("%+v", moved)
	}
	if len(moved.Moves) != 2 || moved.Moves[0].Platform != nil || *moved.Moves[1].Platform != "openai" {
		t.Fatalf("moves %s", events[0])
	}
	for i, n := range []int64{448, 224} {
		if m := moved.Moves[i]; m.Verdict != "moved_down" || m.N != n || m.From.N != n || *m.Rate >= *m.From.Rate ||
			m.Since != "2026-11-20" {
			t.Errorf("%s", events[0])
		}
	}
	if n := w.count(t, "SELECT count(*) FROM private.judged_days"); n != 2 {
		t.Errorf("%d judged days, want those of two brands", n)
	}
	if n := w.count(t, "SELECT count(*) FROM private.episodes WHERE closed_at IS NULL AND direction = "+
		"'moved_down'"); n != 2 {
		t.Errorf("%d open episodes", n)
	}

	// It is known from then on, until the rate is back on two judged days.
	for n := range 14 {
		next, mentioned := day.AddDate(0, 0, n+1), usual
		if n < 3 {
			mentioned = "platform = 'gemini' AND " + usual
		}
		w.answer(t, lumen, next, 1, strings.ReplaceAll(mentioned, "number", fmt.Sprint("number, ", n)))
		w.now = next.Add(25 * time.Hour)
		must(t, w.judge(t).Hourly(t.Context()))
	}
	events = w.events(t, feed.VisibilityMoved)
	recovered := map[string]bool{}
	for _, text := range events[1:] {
		var moved feed.Moved
		must(t, json.Unmarshal([]byte(text), &moved))
		for _, m := range moved.Moves {
			if m.Verdict != "recovered" || moved.Day < "2026-12-01" || m.Since != "" {
				t.Error(text)
			}
			recovered[*cmp.Or(m.Platform, new(""))] = true
		}
	}
	if !recovered[""] || !recovered["openai"] || len(recovered) != 2 {
		t.Errorf("recovered %v, events %q", recovered, events)
	}
	if n := w.count(t, "SELECT count(*) FROM private.episodes WHERE closed_at IS NULL"); n != 0 {
		t.Errorf("%d open episodes after the recovery", n)
	}
}

// A day is judged once its answers are complete: not before one o'clock, not while a job with a slot of that day runs
// or
// answers are read again, and never if it was not complete by 23 o'clock.
func TestADayIsJudgedWhenItIsComplete(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	brand := w.addBrand(t, "lumen", day, noise)
	judged := func(hour int) bool {
		w.now = day.AddDate(0, 0, 1).Add(time.Duration(hour)*time.Hour + 59*time.Minute)
		must(t, w.judge(t).Hourly(t.Context()))
		return w.count(t, "SELECT count(*) FROM private.judged_days") > 0
	}
	if judged(0) || judged(23) {
		t.Error("judged at a wrong hour")
	}
	w.exec(t, "INSERT INTO public.tracking_jobs (id, organization_id, brand_id, total, status) VALUES ($1, $2, $1, "+
		"1, 'active')", brand.ID, w.org.ID)
	w.exec(t,
		`INSERT INTO public.tracking_runs (organization_id, job_id, prompt_id, platform, model, region, sample, slot)
		VALUES ($2, $1, $1, 'openai', '', '', 1, '2026-11-25 23:00+00')`, brand.ID, w.org.ID)
	if judged(5) {
		t.Error("judged although a run of the day waits")
	}
	w.exec(t, "UPDATE public.tracking_runs SET slot = '2026-11-26 00:00+00'")
	w.exec(t, "INSERT INTO private.rereads (brand_id, organization_id, urgent, started_at, due_at) VALUES ($1, $2, "+
		"true, now(), now())", brand.ID, w.org.ID)
	if judged(6) {
		t.Error("judged while answers are read again")
	}
	w.exec(t, "UPDATE private.rereads SET finished_at = now(), due_at = NULL")
	w.exec(t, "INSERT INTO private.default_checks (brand_id, last_checked_at, next_check_at) VALUES ($1, now(), "+
		"'2026-11-25 23:59+00')", brand.ID)
	if judged(7) {
		t.Error("judged although the default platforms are to be asked for the day")
	}
	w.exec(t, "INSERT INTO public.brand_platforms (brand_id, organization_id, platform, next_check_at) VALUES ($1, "+
		"$2, 'openai', '2026-11-25 23:59+00')", brand.ID, w.org.ID)
	if judged(8) {
		t.Error("judged although a platform is to be asked for the day")
	}
	w.exec(t, "UPDATE public.brand_platforms SET next_check_at = '2026-11-26 00:10+00'")
	if !judged(22) {
		t.Error("not judged, although all is complete")
	}
}

// An organization whose answers cannot be read delays no other.
func TestAnOrganizationAloneIsNotJudged(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	acme := w.org
	must(t, w.warehouse.Exec(t.Context(), "SYSTEM STOP MERGES brand_prompt_daily")) // a part is of one organization
	broken := []string{}
	for _, slug := range []string{"a", "b", "c", "d"} {
		var err error
		w.org, err = w.db.AddOrganization(t.Context(), slug, slug)
		must(t, err)
		w.addBrand(t, slug, day, noise)
		broken = append(broken, "'"+w.org.ID.String()+"'")
	}
	w.org = acme
	w.addBrand(t, "lumen", day, noise)
	must(t, w.warehouse.Exec(t.Context(), "RENAME TABLE brand_prompt_daily TO readable"))
	must(t, w.warehouse.Exec(t.Context(), "CREATE VIEW brand_prompt_daily AS SELECT * FROM readable WHERE "+
		"throwIf(toString(organization_id) IN ("+strings.Join(broken, ", ")+"), 'broken') = 0"))
	if err := w.judge(t).Hourly(t.Context()); err == nil || strings.Count(err.Error(), "broken") < len(broken) {
		t.Errorf("%v, want the error of each", err)
	}
	if n := w.count(t, "SELECT count(*) FROM private.judged_days WHERE organization_id = $1", acme.ID); n != 1 {
		t.Errorf("%d judged days of the other", n)
	}
}

// A process that is killed before the transaction ends leaves nothing; the next one tells all, of two brands that drop
// on one day each.
func TestAJudgementIsStoredWholly(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.addBrand(t, "lumen", day, "n > 6")
	w.addBrand(t, "lamp", day, "n > 6")
	w.exec(t, "CREATE FUNCTION private.fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION "+
		"$$killed$$; END'")
	w.exec(t, "CREATE TRIGGER fail BEFORE INSERT ON public.events FOR EACH ROW EXECUTE FUNCTION private.fail()")
	if err := w.judge(t).Hourly(t.Context()); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatal(err)
	}
	if n := w.count(t, "SELECT (SELECT count(*) FROM private.judged_days) + (SELECT count(*) FROM "+
		"private.episodes)"); n != 0 {
		t.Errorf("%d rows of half a judgement", n)
	}
	w.exec(t, "DROP TRIGGER fail ON public.events")
	must(t, w.judge(t).Hourly(t.Context()))
	if events := w.events(t, feed.VisibilityMoved); len(events) != 2 ||
		strings.Contains(events[0], `"Lamp"`) == strings.Contains(events[1], `"Lamp"`) {
		t.Errorf("events %q, want one of each brand", events)
	}
}
