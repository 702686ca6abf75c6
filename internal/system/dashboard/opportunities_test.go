package dashboard

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
)

// A member sees what is suggested with its counts, opens as many answers as a row says, dismisses it, takes that back,
// dismisses a topic's together, and makes a prompt, a competitor and an alias.
func (d *dashboard) showsOpportunities(t *testing.T) {
	const lock = "SELECT pg_advisory_lock(hashtextextended('suggestions of ' || $1, 0))" // that of computations
	if err := run.InPostgres(t, d.env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, lock, d.brand)
		if err == nil {
			d.decides(t)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func (d *dashboard) decides(t *testing.T) {
	t.Helper()
	d.suggest(t)
	const path = "/brands/fernwood/opportunities"
	d.at(t, path, "Opportunities")
	lost := `document.querySelector('table[aria-label="Prompts you lose"]')`
	row := `[...` + lost + `.tBodies[0].rows].map((tr) => tr.cells[0].textContent)`
	d.page.Await(t, row+`.join() == "Shelter,Altrek is named more."`)
	evidence := d.text(t, lost+`.rows[2].textContent.replaceAll("\u00a0", " ")`)
	for _, want := range []string{"Altrek9 of 10", "Fernwood1 of 10", "(60–98%)", "at most 2.5 points"} {
		if !strings.Contains(evidence, want) {
			t.Errorf("%q lacks %q", evidence, want)
		}
	}
	said := d.text(t, lost+`.rows[2].querySelector("td a").textContent`)
	d.page.Eval(t, `void `+lost+`.rows[2].querySelector("td a").click()`, nil)
	d.settled(t, "Answers")
	if counted := d.text(t, `document.querySelector("main strong")?.textContent ?? "0 answers"`); counted != said {
		t.Errorf("%s are behind a row that says %s", counted, said)
	}

	d.at(t, path, "Opportunities")
	for _, active := range []string{"false", "true"} { // taking it back activates no prompt that was not active
		d.change(t, "UPDATE public.prompts SET is_active = $1::text::bool WHERE brand_id = $2 AND text = 'a tent "+
			"for the moon'", active, d.brand)
		d.click(t, "We do not sell this")
		d.page.Await(t, row+`.join() == "Shelter" && document.activeElement.textContent == "Undo"`)
		d.hasRow(t, "prompts?text=eq.a tent for the moon&is_active=eq.false")
		d.page.Press(t, "Enter")
		d.page.Await(t, row+`.length == 2`)
		d.hasRow(t, "prompts?text=eq.a tent for the moon&is_active=eq."+active)
	}
	d.click(t, "Make brief")
	d.page.Await(t, `document.querySelector("main .markdown")?.parentElement.querySelector("h2").textContent == `+
		`"Altrek is named more."`)
	d.click(t, "Mark as sent")
	d.page.Await(t, `[...document.querySelectorAll("main button")].some((b) => b.textContent == "Mark as done")`)
	var file string
	d.page.Eval(t, `fetch([...document.querySelectorAll("main a")].find((a) => a.textContent == `+
		`"Download").href).then((r) => r.text())`, &file)
	if !strings.HasPrefix(file, "# Altrek is named more.\n") {
		t.Errorf("the brief is downloaded as %q", file)
	}
	d.hasNoFindings(t, "a brief", looks[0], looks[3])
	d.page.Show(t, 1280, 900, "light")
	d.click(t, "All briefs")
	d.page.Await(t,
		`document.querySelector('table[aria-label="Briefs"]')?.tBodies[0].rows[0].cells[1].textContent == "sent"`)
	d.at(t, path+"?kind=source", "Opportunities") // a person's, whose evidence is of no form
	d.page.Await(t, `document.querySelector('table[aria-label="Sources"]')?.tBodies[0].rows[0].cells[0].textContent `+
		`== "Write to Quora."`)

	d.at(t, path, "Opportunities")
	d.saves(t, map[string]string{"Prompts you lose": "suggestions?kind=gap&status=new&limit=200&table=suggestions"})
	d.click(t, "Dismiss")
	d.page.Await(t, row+`.join() == "Shelter" && document.activeElement.textContent == "Undo"`)
	d.page.Press(t, "Enter")
	d.page.Await(t, row+`.length == 2`)
	d.click(t, "Show 2 prompts")
	d.page.Await(t, row+`.length == 4 && location.search == "?topic=Shelter"`)
	for i, look := range looks[:testkit.Draws(1, 2)] {
		d.hasNoFindings(t, "opportunities", look, looks[3-i])
	}
	d.page.Show(t, 1280, 900, "light")
	d.click(t, "Dismiss all of this topic")
	d.page.Await(t, row+`.length == 1`)
	d.at(t, path+"?status=dismissed&topic=Shelter", "Opportunities")
	d.page.Await(t, row+`.length == 3`)
	d.click(t, "Back to new")
	d.page.Await(t, row+`.length == 1`)

	for kind, add := range map[string]struct{ act, field, text, table, list string }{
		"prompt":     {"Add prompt", "Prompt", "which tent is best in snow?", "prompts", "text"},
		"competitor": {"Add competitor", "Competitor name", "Norrfell", "competitors", "name"},
		"page":       {"Add domain", "Domain", "norrfell.example", "brand_domains", "domain"},
	} {
		d.at(t, path+"?kind="+kind, "Opportunities")
		d.click(t, add.act)
		d.page.Await(t, `document.querySelector("dialog[open]")`)
		d.fill(t, add.field, add.text)
		d.page.Press(t, "Enter")
		d.settled(t, "Opportunities")
		d.page.Await(t, `document.querySelector("main").textContent.includes("Nothing sure yet") || `+
			`document.querySelector("main").textContent.includes("Not computed yet")`)
		d.at(t, path+"?status=added&kind="+kind, "Opportunities")
		d.page.Await(t, `document.querySelector("main tbody th")`)
		d.hasRow(t, add.table+"?"+add.list+"=eq."+add.text)
	}
	d.unsuggest(t)

	d.at(t, "/brands/fernwood/settings", "Settings") // its domains are of no site, and the server says so
	d.click(t, "Read home page")
	d.page.Await(t, `document.querySelector("main [role=alert]")?.textContent.includes("cannot be fetched")`)
}

// hasRow checks that a question to the dashboard's tables has one row.
func (d *dashboard) hasRow(t *testing.T, question string) {
	t.Helper()
	var rows int
	d.page.Eval(t, fmt.Sprintf(`fetch(encodeURI("/app/api/rest/v1/" + %q)).then((r) => r.json()).then((r) => r.length)`,
		question), &rows)
	if rows != 1 {
		t.Errorf("%s has %d rows, want 1", question, rows)
	}
}

// suggest stores what a computation would: the rules' own tests show that they find it.
func (d *dashboard) suggest(t *testing.T) {
	t.Helper()
	const suggested = `
		INSERT INTO public.suggestions (brand_id, kind, key, text, score, origin, evidence, computed_at)
		SELECT $1::uuid, s.kind, CASE s.kind WHEN 'page' THEN 'domain:' ELSE 'test ' END || s.n, s.text, s.score,
			'computed', s.evidence || jsonb_build_object('v', 1, 'window', jsonb_build_object(
				'date_from', (now() - INTERVAL '90 days')::date, 'date_to', (now() - INTERVAL '1 day')::date)), now()
		FROM (VALUES
			(1, 'gap', 'Altrek is named more.', 2.5, jsonb_build_object('answers', 10, 'brand_answers', 1,
				'rival_answers', 9, 'topic', '', 'prompt_id', $3::uuid,
				'rival', '{"name": "Altrek"}'::jsonb, 'brand_interval', '{"low": 2, "high": 40}'::jsonb,
				'rival_interval', '{"low": 60, "high": 98}'::jsonb,
				'listed_answers', $2::bigint, 'open', 'mentioned=false')),
			(2, 'gap', 'Tents by Altrek', 3, '{"topic": "Shelter"}'),
			(3, 'gap', 'Tarps by Altrek', 3, '{"topic": "Shelter"}'),
			(4, 'prompt', 'Platforms search for tents in snow.', 1, '{"name": "tent snow"}'),
			(5, 'competitor', 'Norrfel is named.', 1, '{"name": "Norrfel"}'),
			(6, 'page', 'Your home page has another address.', NULL, '{"name": "norrfel.example"}'))
			AS s (n, kind, text, score, evidence)`
	var unnamed struct{ Total int }
	now := time.Now().UTC()
	d.ask(t, fmt.Sprintf("answers?mentioned=false&limit=1&date_from=%s&date_to=%s&brand_id=%s",
		now.AddDate(0, 0, -90).Format(time.DateOnly), now.AddDate(0, 0, -1).Format(time.DateOnly), d.brand), &unnamed)
	d.change(t, "DELETE FROM public.suggestions WHERE brand_id = $1", d.brand)
	const prompt = "01890a5d-ac96-774b-bcce-b302099a8057"
	d.change(t, "INSERT INTO public.prompts (id, prompt_set_id, text) SELECT $2, id, 'a tent for the moon' FROM "+
		"public.prompt_sets WHERE brand_id = $1 LIMIT 1", d.brand, prompt)
	d.change(t, suggested, d.brand, unnamed.Total, prompt)
	d.change(t, `INSERT INTO public.suggestions (brand_id, kind, text, evidence) VALUES ($1, 'source', `+
		`'Write to Quora.', '{"quotes": "x", "pages": {}, "rival": 3, "topic": []}')`, d.brand)
}

func (d *dashboard) unsuggest(t *testing.T) {
	t.Helper()
	d.change(t, "DELETE FROM public.suggestions WHERE brand_id = $1", d.brand)
	d.change(t, "DELETE FROM public.competitors WHERE brand_id = $1 AND name = 'Norrfell'", d.brand)
	d.change(t, "DELETE FROM public.prompts WHERE brand_id = $1 AND text IN ('which tent is best in snow?', "+
		"'a tent for the moon')", d.brand)
	d.change(t, "DELETE FROM public.brand_domains WHERE brand_id = $1 AND domain = 'norrfell.example'", d.brand)
	d.change(t, "DELETE FROM public.content_briefs WHERE brand_id = $1", d.brand)
}

func (d *dashboard) change(t *testing.T, statement string, arguments ...any) {
	t.Helper()
	if err := run.InPostgres(t, d.env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement, arguments...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
