package dashboard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
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
	if d.page.Eval(t, `fetch("/app/api/v1/brands").then((r) => r.json()).then((body) => body.brands.length)`,
		&brands); brands != 2 {
		t.Errorf("with a domain that was corrected one brand becomes %d", brands-1)
	}
	d.click(t, "Add prompt")
	d.page.Await(t, `document.querySelector("dialog[open] textarea")`)
	d.fill(t, "Prompt", hostile+"\n"+`javascript:alert(1)`)
	d.fill(t, "Or a new topic", hostile)
	d.click(t, "Add 2 prompts")
	d.page.Await(t, `document.querySelectorAll('table[aria-label="Tracked prompts"] tbody tr').length == 2`)
	d.settled(t, "Prompts")
	d.page.Await(t, `document.querySelector('table[aria-label="Tracked prompts"]').rows[1].cells[1].textContent`)
	for _, want := range []string{
		`document.querySelector(".toolbar select").selectedOptions[0].textContent`,
		`[...document.querySelectorAll('table[aria-label="Tracked prompts"] tbody th')].map((c) => ` +
			`c.textContent).sort()[0]`,
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
	d.page.Await(t, `document.querySelector('table[aria-label="Competitors"]')?.rows[1].cells[0]`+
		`.textContent.endsWith(" & Sons")`)
	d.fill(t, "Domain", "https://shop.hostile.example/x?y")
	d.click(t, "Add domain")
	d.page.Await(t, `[...document.querySelectorAll(".chips li")].map((li) => li.firstChild.textContent).join() == `+
		`"hostile.example,shop.hostile.example"`)
	if left := d.text(t, `[...document.querySelectorAll("form input")].filter((i) => i.value == `+
		`"https://shop.hostile.example/x?y" || i.value.endsWith("Sons")).length + ""`); left != "0" {
		t.Errorf("%s fields keep what was added", left)
	}
	for name, refusal := range map[string]string{
		hostile + " & Sons": "This competitor is there already.", " ": "This name is blank or too long.",
	} {
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
		"platform": "chatgpt-web", "prompt": hostile,
		"answered_at": time.Now().UTC().Format(time.RFC3339), "text": text,
		"citations": []map[string]any{{"url": page, "title": hostile}},
		"products":  []map[string]any{{"title": hostile, "brand": hostile, "url": script}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := run.ToEnd(t, d.env, string(line), "import", "-", "--org", run.DemoSlug,
		"--brand", slug); r.Status != run.ExitDone {
		t.Fatal(r.Stderr)
	}
	var brands struct{ Brands []struct{ ID, Slug string } }
	d.ask(t, "brands", &brands)
	brand := brands.Brands[slices.IndexFunc(brands.Brands, func(b struct{ ID, Slug string }) bool {
		return b.Slug == slug
	})].ID
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
		if d.page.Eval(t, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((part) => part.href ?? `+
			`(part.localName == "li" ? part.firstChild : part).textContent)`, parts),
			&shown); !slices.Equal(shown, want) {
			t.Errorf("%s are %q, want %q", parts, shown, want)
		}
	}
	d.isItself(t, "Answers")
}

// Hostile Markdown makes no element but those that format it, no link that is none of the web, and no request; however
// it is nested, it is shown. Its mentions are marked, each once, but for those that formatting parts.
func (d *dashboard) formatsHostileAnswers(t *testing.T) {
	slug := strings.Split(d.text(t, "location.pathname"), "/")[2]
	const page = "https://other.example/"
	texts := map[string]string{
		"corpus": "# " + hostile + "\n\n**" + hostile + "** and _" + hostile + "_, `" + hostile + "` ~~" + hostile +
			"~~\n\n" +
			"- [" + hostile + "](" + page + "a)\n  1. ![" + hostile + "](" + page + "image.png)\n> " + hostile +
			"\n\n| a | b |\n|-|-|\n| " + hostile + " | <script>alert(1)</script> |\n\n" +
			"[x](javascript:alert(1)) [x](JavaScript:alert(1)) [x](data:text/html,<b>) [x](//other.example) " +
			"![x](data:image/svg+xml,x) [x](vbscript:x) <a href=\"javascript:x\">x</a>\n" +
			"[x](https://other.example\" onclick=alert(1)) [x](" + page + " \"title\") <" + page + "> <iframe src=" +
			page + "> <style>@import '" + page + "'</style> &lt;b&gt;\n" +
			"\u202eشركة\u202c **العربية** \u200b*\u200b*\u200f**a\u200b**\u2066 東京は**良い**\n```html\n<img src=x " +
			"onerror=alert(1)>\n```\n\n***\n[a](" + page + ")[b][c]: " + page + " \"t\"\n",
		"emphasis": strings.Repeat("*a **b ", 100_000/7) + strings.Repeat("c** d*", 100_000/6) + hostile,
		"stars":    strings.Repeat("*", 1<<20),
		"brackets": strings.Repeat("[", 1<<15) + strings.Repeat("](", 1<<14) + strings.Repeat("`", 99) +
			strings.Repeat("> - ", 1<<12),
		"report": strings.Repeat("## Which one?\n\n**"+hostile+
			"** is *well* known ([Sources 1]("+page+"b)), see [the test]("+page+"c).\n\n"+
			"- light: `180 g`\n- dry: 20,000 mm\n\n| jacket | weight |\n|---|---:|\n| one | 180 g |\n\n", 1<<16/250),
	}
	if !testkit.All {
		texts = map[string]string{"corpus": texts["corpus"], "emphasis": texts["emphasis"]}
	}
	var lines strings.Builder
	for prompt, text := range texts {
		line, err := json.Marshal(map[string]any{
			"platform": "gemini-web", "prompt": prompt,
			"answered_at": time.Now().UTC().Format(time.RFC3339), "text": text,
			"citations": []map[string]any{{"url": page + "b", "title": "b"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	if r := run.ToEnd(t, d.env, lines.String(), "import", "-", "--org", run.DemoSlug,
		"--brand", slug); r.Status != run.ExitDone {
		t.Fatal(r.Stderr)
	}
	var brands struct{ Brands []struct{ ID, Slug string } }
	d.ask(t, "brands", &brands)
	brand := brands.Brands[slices.IndexFunc(brands.Brands, func(b struct{ ID, Slug string }) bool {
		return b.Slug == slug
	})].ID
	var found struct {
		Answers []struct {
			ID     string
			Prompt string `json:"prompt_text"`
		}
	}
	wait.Until(t, func() string {
		if d.ask(t, "answers?platform=gemini-web&brand_id="+brand, &found); len(found.Answers) < len(texts) {
			return "not all answers have landed"
		}
		return ""
	})
	for _, answer := range found.Answers {
		var body struct{ Mentions []struct{ Role string } }
		d.ask(t, "answers/"+answer.ID, &body)
		mentions := 0
		for _, m := range body.Mentions {
			if m.Role == "brand" {
				mentions++
			}
		}
		d.at(t, "/brands/"+slug+"/answers/"+answer.ID+"?text=received", "Answers")
		d.page.Await(t, `document.querySelector("article .text")`)
		var received []string
		d.page.Eval(t, marks, &received)
		var took float64
		d.page.Eval(t, `new Promise((done) => {
			const from = performance.now()
			;[...document.querySelectorAll("a")].find((a) => a.textContent == "Formatted").click()
			const look = () => document.querySelector("article .markdown") ? done(performance.now() - from) :
				setTimeout(look)
			look()
		})`, &took)
		var shown struct {
			Elements, Links []string
			Marks           []string
		}
		d.page.Eval(t, `(() => {
			const all = [...document.querySelectorAll("article .markdown *")]
			return {
				Elements: [...new Set(all.flatMap((e) => [e.localName, ...e.getAttributeNames().map((name) =>
					e.localName + " " + name)]))],
				Links: [...new Set(all.flatMap((e) => e.localName == "a" ? [new URL(e.href).host, e.rel,
					e.target] : []))],
				Marks: `+marks+`,
			}
		})()`, &shown)
		for _, element := range shown.Elements {
			if !slices.Contains(formatting, element) {
				t.Errorf("%s makes %s", answer.Prompt, element)
			}
		}
		for _, part := range shown.Links {
			if part != "other.example" && part != "noopener noreferrer nofollow" && part != "_blank" && part != "" &&
				!strings.Contains(d.URL, part) {
				t.Errorf("%s has a link with %q", answer.Prompt, part)
			}
		}
		if len(received) != mentions || !slices.Equal(shown.Marks, received) ||
			mentions == 0 && strings.Contains(texts[answer.Prompt], hostile) {
			t.Errorf("%s has %d mentions, as received the marks %q, formatted %q", answer.Prompt, mentions, received,
				shown.Marks)
		}
		t.Logf("%s: %d bytes are shown in %.1f ms", answer.Prompt, len(texts[answer.Prompt]), took)
		d.isItself(t, "Answers")
	}
}

// marks are the marked mentions of an answer, by their places in the text.
const marks = `[...new Set([...document.querySelectorAll("article .text :is(mark, u)")].map((e) => ` +
	`e.localName + e.dataset.key))]`

// formatting has the elements of formatted answers, and their attributes.
var formatting = []string{
	"p", "p class", "strong", "em", "del", "code", "pre", "ul", "ol", "ol start", "li", "blockquote", "hr", "sup",
	"a", "a href", "a target", "a rel", "a id", "a aria-label", "small", "small class", "mark", "mark title",
	"mark data-key", "u", "u title", "u data-key",
	"table", "thead", "tbody", "tr", "th", "th scope", "td", "div", "div class", "div tabindex", "div role",
	"div aria-label",
}

// isItself says that no text has become part of the page.
func (d *dashboard) isItself(t *testing.T, screen string) {
	t.Helper()
	var images int
	if d.page.Eval(t, "document.images.length", &images); images != 0 ||
		!strings.HasPrefix(d.text(t, "document.title"), screen+" · ") {
		t.Error("a text has become part of the page")
	}
}
