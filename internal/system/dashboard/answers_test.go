package dashboard

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A figure leads to the answers that it counts, a row to its own, and an answer shows all of itself.
func (d *dashboard) opensAnswers(t *testing.T) {
	type list struct {
		Total   int
		Answers []struct {
			ID, Platform string
			Prompt       string `json:"prompt_id"`
			At           string `json:"answered_at"`
		}
	}
	for from, lead := range map[string]struct{ link, query string }{
		"":            {`figure[aria-label="Mention rate"] .value a`, "&mentioned=true"},
		"competitors": {"tbody tr.own th a", "&mentioned=true"},
		"prompts":     {`a[href*="prompt_id="]`, "&prompt_id="},
		"sources":     {`table[aria-label="Domains"] tbody th a`, "&domain="},
	} {
		d.at(t, "/brands/fernwood/"+from, strings.ToUpper(cmp.Or(from, "overview")[:1])+cmp.Or(from, "overview")[1:])
		d.page.Await(t, "document.querySelector('main "+lead.link+"')")
		d.page.Eval(t, "void document.querySelector('main "+lead.link+"').click()", nil)
		d.settled(t, "Answers")
		d.page.Await(t, `document.querySelector('table[aria-label="Answers"]')`)
		at := d.text(t, "location.search")
		var want list
		d.ask(t, "answers?sort=prompt&brand_id="+d.brand+"&"+strings.TrimPrefix(at, "?"), &want)
		if !strings.Contains("&"+at[1:], lead.query) || want.Total == 0 {
			t.Errorf("%q leads to %s, of %d answers", from, at, want.Total)
		}
		if text := d.text(t,
			`document.querySelector("main .card").innerText`); !strings.Contains(text,
			number(float64(want.Total))+" answer") {
			t.Errorf("of %d answers the list says %.100q", want.Total, text)
		}
		var rows, groups [][]string // of each row the answer that it leads to, then those of its marks
		d.page.Eval(t, `[...document.querySelectorAll('table[aria-label="Answers"] tbody tr')].map((tr) => {
			const [first, ...marks] = [...tr.querySelectorAll("a")].map((a) =>
				new URL(a.href).pathname.split("/").pop())
			return [first, ...marks.sort()]
		})`, &rows)
		for i, a := range want.Answers {
			if i == 0 || a.Prompt != want.Answers[i-1].Prompt || a.At[:10] != want.Answers[i-1].At[:10] {
				groups = append(groups, []string{a.ID})
			}
			groups[len(groups)-1] = append(groups[len(groups)-1], a.ID)
		}
		for _, group := range groups {
			slices.Sort(group[1:])
		}
		if t.Logf("%d answers are in %d rows", len(want.Answers), len(rows)); !reflect.DeepEqual(rows, groups) {
			t.Errorf("%s has the rows %q, want %q", at, rows, groups)
		}
	}

	var found list
	d.ask(t, "answers?mentioned=true&cited=true&limit=1&brand_id="+d.brand, &found) // not every answer has citations
	var answer struct {
		Text      string
		Mentions  []struct{ Role string }
		Citations []struct{ URL string }
	}
	d.ask(t, "answers/"+found.Answers[0].ID, &answer)
	d.at(t, "/brands/fernwood/answers/"+found.Answers[0].ID+"?text=received", "Answers")
	d.page.Await(t, `document.querySelector("article")`)
	mentions := 0
	for _, m := range answer.Mentions {
		if m.Role == "brand" {
			mentions++
		}
	}
	var shown struct {
		Text  string
		Marks int
		Links []string
	}
	d.page.Eval(t,
		`({Text: document.querySelector("article .text").textContent,
			Marks: document.querySelectorAll("article mark").length,
		Links: [...document.querySelectorAll("main ol a")].map((a) => a.getAttribute("href"))})`, &shown)
	if shown.Text != answer.Text || shown.Marks != mentions || mentions == 0 ||
		len(shown.Links) != len(answer.Citations) {
		t.Errorf("an answer of %d mentions and %d citations shows %d marks, %d links and %.200q", mentions,
			len(answer.Citations), shown.Marks, len(shown.Links), shown.Text)
	}
	if places := d.text(t,
		`document.querySelectorAll(".places rect").length + ""`); places != fmt.Sprint(len(answer.Mentions)) {
		t.Errorf("%s places of %d mentions", places, len(answer.Mentions))
	}
	var received, formatted []string
	d.page.Eval(t, marks, &received)
	d.click(t, "Formatted")
	d.page.Await(t, `document.querySelector("article .markdown")`)
	var numbers []string // of citations, there and back
	d.page.Eval(t, `[...document.querySelectorAll("article sup a")].map((a) => `+
		`a.hash + document.querySelector(a.hash).querySelector(".place").hash + a.id)`, &numbers)
	for i, there := range numbers {
		if want := fmt.Sprintf("#citation-%[1]d#place-%[1]dplace-%[1]d", i+1); there != want {
			t.Errorf("citation %d leads to %s", i+1, there)
		}
	}
	if d.page.Eval(t, marks, &formatted); !slices.Equal(formatted, received) || len(numbers) == 0 {
		t.Errorf("as received %q are marked, formatted %q; %d citations have numbers", received, formatted,
			len(numbers))
	}
	d.at(t, "/brands/fernwood/answers/"+d.brand, "Not found")
}

// Two answers to the same question stand side by side, whole, with what differs marked.
func (d *dashboard) comparesAnswers(t *testing.T) {
	var list struct{ Answers []struct{ ID string } }
	d.ask(t, "answers?limit=1&platform=chatgpt-web&brand_id="+d.brand, &list)
	d.at(t, "/brands/fernwood/answers/"+list.Answers[0].ID, "Answers")
	d.click(t, "‹ Earlier")
	d.page.Await(t, fmt.Sprintf("!location.pathname.endsWith(%q)", list.Answers[0].ID))
	d.click(t, "Later ›")
	d.page.Await(t, fmt.Sprintf("location.pathname.endsWith(%q)", list.Answers[0].ID))
	d.click(t, "Compare with the earlier one")
	d.page.Await(t, `document.querySelector(".diff ins, .diff del")`)
	earlier := d.text(t, `new URLSearchParams(location.search).get("with")`)
	var shown []string
	d.page.Eval(t, `[...document.querySelectorAll(".diff > .text")].map((side) => side.textContent)`, &shown)
	type answer struct {
		Text, Platform, Model, Region string
		Sample                        int
		Prompt                        string `json:"prompt_id"`
	}
	var before, after answer
	d.ask(t, "answers/"+earlier, &before)
	d.ask(t, "answers/"+list.Answers[0].ID, &after)
	if !slices.Equal(shown, []string{before.Text, after.Text}) {
		t.Errorf("of %q and %q it shows %q", before.Text, after.Text, shown)
	}
	if before.Text = after.Text; before != after {
		t.Errorf("%+v is compared with %+v", after, before)
	}
}
