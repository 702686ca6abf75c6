package system

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A member sees what is suggested with its counts, opens as many answers as a row says, dismisses it, takes that back,
// dismisses a topic's together, and makes a prompt, a competitor and an alias.
func (d *dashboard) showsOpportunities(t *testing.T) {
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
	d.saves(t, map[string]string{"Prompts you lose": "suggestions?kind=gap&status=new&limit=200&table=suggestions"})
	d.click(t, "Dismiss")
	d.page.Await(t, row+`.join() == "Shelter" && document.activeElement.textContent == "Undo"`)
	d.page.Press(t, "Enter")
	d.page.Await(t, row+`.length == 2`)
	d.click(t, "Show 2 prompts")
	d.page.Await(t, row+`.length == 4 && location.search == "?topic=Shelter"`)
	for i, look := range looks[:2] {
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
	} {
		d.at(t, path+"?kind="+kind, "Opportunities")
		d.click(t, add.act)
		d.page.Await(t, `document.querySelector("dialog[open]")`)
		d.fill(t, add.field, add.text)
		d.page.Press(t, "Enter")
		d.settled(t, "Opportunities")
		d.page.Await(t, `document.querySelector("main").textContent.includes("Nothing sure yet") || document.querySelector("main").textContent.includes("Not computed yet")`)
		d.at(t, path+"?status=added&kind="+kind, "Opportunities")
		d.page.Await(t, `document.querySelector("main tbody th")`)
		var rows int
		d.page.Eval(t, fmt.Sprintf(`fetch("/app/api/rest/v1/%s?%s=eq." + encodeURIComponent(%q)).then((r) => r.json()).then((r) => r.length)`, add.table, add.list, add.text), &rows)
		if rows != 1 {
			t.Errorf("%s makes %d rows", add.act, rows)
		}
	}
	d.unsuggest(t)
}

// suggest stores what a computation would: the rules' own tests show that they find it.
func (d *dashboard) suggest(t *testing.T) {
	t.Helper()
	const suggested = `
		INSERT INTO public.suggestions (brand_id, kind, key, text, score, origin, evidence, computed_at)
		SELECT $1::uuid, s.kind, 'test ' || s.n, s.text, s.score, 'computed', s.evidence || jsonb_build_object(
			'v', 1, 'window', jsonb_build_object('date_from', (now() - INTERVAL '90 days')::date, 'date_to', (now() - INTERVAL '1 day')::date)), now()
		FROM (VALUES
			(1, 'gap', 'Altrek is named more.', 2.5, jsonb_build_object('answers', 10, 'brand_answers', 1, 'rival_answers', 9, 'topic', '',
				'rival', '{"name": "Altrek"}'::jsonb, 'brand_interval', '{"low": 2, "high": 40}'::jsonb, 'rival_interval', '{"low": 60, "high": 98}'::jsonb,
				'opens', $2::bigint, 'open', 'mentioned=false')),
			(2, 'gap', 'Tents by Altrek', 3, '{"topic": "Shelter"}'),
			(3, 'gap', 'Tarps by Altrek', 3, '{"topic": "Shelter"}'),
			(4, 'prompt', 'Platforms search for tents in snow.', 1, '{"name": "tent snow"}'),
			(5, 'competitor', 'Norrfel is named.', 1, '{"name": "Norrfel"}')) AS s (n, kind, text, score, evidence)`
	var unnamed struct{ Total int }
	now := time.Now().UTC()
	d.ask(t, fmt.Sprintf("answers?mentioned=false&limit=1&date_from=%s&date_to=%s&brand_id=%s",
		now.AddDate(0, 0, -90).Format(time.DateOnly), now.AddDate(0, 0, -1).Format(time.DateOnly), d.brand), &unnamed)
	d.change(t, "DELETE FROM public.suggestions WHERE brand_id = $1", d.brand)
	d.change(t, suggested, d.brand, unnamed.Total)
}

func (d *dashboard) unsuggest(t *testing.T) {
	t.Helper()
	d.change(t, "DELETE FROM public.suggestions WHERE brand_id = $1", d.brand)
	d.change(t, "DELETE FROM public.competitors WHERE brand_id = $1 AND name = 'Norrfell'", d.brand)
	d.change(t, "DELETE FROM public.prompts WHERE brand_id = $1 AND text = 'which tent is best in snow?'", d.brand)
}

func (d *dashboard) change(t *testing.T, statement string, arguments ...any) {
	t.Helper()
	if err := inPostgres(t, d.env, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement, arguments...)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
