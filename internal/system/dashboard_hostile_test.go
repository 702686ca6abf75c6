package system

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// hostile would change the title where it became part of the page.
const hostile = `<img src=x onerror="document.title='broken'">{{1+1}}"'&lt;`

// Texts of people and of answers are shown as they are, and do nothing.
func (d *dashboard) showsHostileTextsAsText(t *testing.T) {
	d.at(t, "/", "Brands")
	d.click(t, "Add brand")
	d.page.Await(t, `document.querySelector("dialog[open]")`)
	d.fill(t, "Brand name", hostile)
	d.fill(t, "Domain", "lamps")
	d.page.Press(t, "Enter")
	d.page.Await(t, alert+`?.startsWith('Domain "lamps": want a host')`)
	d.fill(t, "Domain", "hostile.example")
	d.page.Press(t, "Enter")
	d.settled(t, "Prompts")
	var brands int
	if d.page.Eval(t, `fetch("/app/api/v1/brands").then((r) => r.json()).then((body) => body.brands.length)`, &brands); brands != 2 {
		t.Errorf("with a domain that was corrected one brand becomes %d", brands-1)
	}
	d.click(t, "Add prompt")
	d.page.Await(t, `document.querySelector("dialog[open] textarea")`)
	d.fill(t, "Prompt", hostile+"\n"+`javascript:alert(1)`)
	d.fill(t, "Or a new topic", hostile)
	d.click(t, "Add 2 prompts")
	d.page.Await(t, `document.querySelectorAll('table[aria-label="Tracked prompts"] tbody tr').length == 2`)
	d.settled(t, "Prompts")
	for _, want := range []string{
		`document.querySelector(".head p").textContent`, `document.querySelector("select").selectedOptions[0].textContent`,
		`[...document.querySelectorAll('table[aria-label="Tracked prompts"] tbody th')].map((c) => c.textContent).sort()[0]`,
		`document.querySelector('table[aria-label="Tracked prompts"]').rows[1].cells[1].textContent`,
	} {
		if got := d.text(t, want); got != hostile {
			t.Errorf("%s is %q", want, got)
		}
	}
	d.isItself(t, "Prompts")
	d.click(t, "Deactivate "+hostile)
	d.page.Await(t, `document.querySelector('table[aria-label="Tracked prompts"]').textContent.includes("not asked")`)

	d.click(t, "Settings")
	d.settled(t, "Settings")
	d.fill(t, "Competitor name", hostile+" & Sons")
	d.click(t, "Add competitor")
	d.page.Await(t, `document.querySelector('table[aria-label="Competitors"]')?.rows[1].cells[0].textContent.endsWith(" & Sons")`)
	d.fill(t, "Domain", "https://shop.hostile.example/x?y")
	d.click(t, "Add domain")
	d.page.Await(t, `[...document.querySelectorAll(".chips li")].map((li) => li.firstChild.textContent).join() == "hostile.example,shop.hostile.example"`)
	if left := d.text(t, `[...document.querySelectorAll("form input")].filter((i) => i.value == "https://shop.hostile.example/x?y" || i.value.endsWith("Sons")).length + ""`); left != "0" {
		t.Errorf("%s fields keep what was added", left)
	}
	for name, refusal := range map[string]string{hostile + " & Sons": "This competitor is there already.", " ": "This name is blank or too long."} {
		d.fill(t, "Competitor name", name)
		d.click(t, "Add competitor")
		d.page.Await(t, alert+fmt.Sprintf(" == %q", refusal))
	}
}

// So are texts of answers, which anybody may have written, and their addresses, of which those that are none of the web
// are no links.
func (d *dashboard) showsHostileAnswersAsText(t *testing.T) {
	slug := strings.Split(d.text(t, "location.pathname"), "/")[2]
	const script, page = "javascript:document.title='broken'", "https://shop.hostile.example/?a=%3Cb%3E"
	text := hostile + " is better than " + hostile + " & Sons. " + script
	line, err := json.Marshal(map[string]any{
		"platform": "chatgpt-web", "prompt": hostile, "answered_at": time.Now().UTC().Format(time.RFC3339), "text": text,
		"citations": []map[string]any{{"url": script, "title": hostile}, {"url": page, "title": hostile}},
		"products":  []map[string]any{{"title": hostile, "brand": hostile, "url": script}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, d.env, string(line), "import", "-", "--org", demoSlug, "--brand", slug); r.status != exitDone {
		t.Fatal(r.stderr)
	}
	var brands struct{ Brands []struct{ ID, Slug string } }
	d.ask(t, "brands", &brands)
	brand := brands.Brands[slices.IndexFunc(brands.Brands, func(b struct{ ID, Slug string }) bool { return b.Slug == slug })].ID
	var found struct{ Answers []struct{ ID string } }
	wait.Until(t, func() string {
		if d.ask(t, "answers?limit=1&brand_id="+brand, &found); len(found.Answers) == 0 {
			return "no answer has landed"
		}
		return ""
	})
	d.at(t, "/brands/"+slug+"/answers/"+found.Answers[0].ID, "Answers")
	d.page.Await(t, `document.querySelector("article")`)
	for parts, want := range map[string][]string{
		"article .text": {text}, "article mark": {hostile, hostile}, "main ol li": {hostile}, "main ul li": {hostile},
		"main li a": {page},
	} {
		var shown []string
		if d.page.Eval(t, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((part) => part.href ?? (part.localName == "li" ? part.firstChild : part).textContent)`, parts), &shown); !slices.Equal(shown, want) {
			t.Errorf("%s are %q, want %q", parts, shown, want)
		}
	}
	d.isItself(t, "Answers")
}

// isItself says that no text has become part of the page.
func (d *dashboard) isItself(t *testing.T, screen string) {
	t.Helper()
	var images int
	if d.page.Eval(t, "document.images.length", &images); images != 0 || !strings.HasPrefix(d.text(t, "document.title"), screen+" · ") {
		t.Error("a text has become part of the page")
	}
}
