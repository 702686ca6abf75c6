package brief

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// lamps is a gap of three answers, each with its pages and searches.
func lamps() input {
	rival := uuid.UUID{15: 7}
	in := input{
		BriefedSuggestion: postgres.BriefedSuggestion{
			Kind: "gap", Text: `"Which desk lamp is quiet?": Aurora is named in 3 of 3 answers, Lumen in 0.`,
			Reason: "Named as often, your mention rate would be at most 2.5 points higher.",
			Themes: []string{`"flicker" is said of Lumen in 4 answers.`},
		},
		Brand: postgres.Snapshot{
			Name: "Lumen", Slug: "lumen", Domains: []string{"lumen.example"},
			Competitors: []postgres.Competitor{{ID: rival, Name: "Aurora"}, {ID: uuid.UUID{15: 8}, Name: "Borealis"}},
		},
		Total: 3, publicURL: "https://answers.example", Computed: "2026-11-26 03:00 UTC",
		crawls: []clickhouse.CrawlCount{
			{Facet: "total", Requests: 40}, {Facet: "status", Name: "403", Requests: 3},
			{Facet: "status", Name: "200", Requests: 37},
		},
	}
	in.Window.From, in.Window.To, in.Open, in.Answers = "2026-08-27", "2026-11-25",
		"prompt_id=01890a5d-ac96-774b-bcce-b302099a8057&mentioned=false", 3
	in.Rival, in.RivalAnswers = advice.Rival{ID: rival, Name: "Aurora"}, 3
	in.BrandInterval, in.RivalInterval = advice.Interval{Low: 0, High: 56.2}, advice.Interval{Low: 43.8, High: 100}
	for i, sentence := range []string{
		"The Aurora One has a fanless driver and a warm dimmer for long evenings.",
		"Buyers like that the Aurora One is fanless and comes with a five year warranty.",
		"We tested it twice. Aurora stays fanless even when the dimmer is at full power.",
	} {
		in.Read = append(in.Read, clickhouse.BriefedAnswer{
			ID: clickhouse.UUID{15: byte(i)}, PromptText: "Which desk lamp is quiet?",
			Platform: []string{"openai", "gemini", "openai"}[i],
			Text:     sentence + " Lumen makes lamps.", Searches: []string{
				"fanless desk lamp 2026", "fanless desk lamps", "quiet lamp warranty",
			}[:i+1],
			URLs:   []string{"https://reviews.example/best-lamps", "https://lumen.example/a"},
			Titles: []string{"The best lamps", ""},
			Types:  []string{"editorial", "editorial"}, Owned: []bool{false, true},
		})
	}
	return in
}

// Whole briefs: of a gap, and of a search, which is no rival: it is compared with all competitors. UPDATE=1 writes
// them.
func TestBriefs(t *testing.T) {
	t.Parallel()
	gap, search := lamps(), lamps()
	search.Kind, search.Text, search.Reason = "prompt",
		`AI platforms searched "quiet desk lamp" in 3 answers; no prompt asks it.`, "0 of these answers name Lumen."
	search.Comparison, search.Name = advice.Comparison{
		Answers: 3, Link: advice.Link{Open: "search=quiet+desk+lamp+2026"},
	}, "quiet desk lamp"
	search.Read[1].Text += "\nThe Borealis Mini is silent too, and it folds flat for travel."
	for name, in := range map[string]input{"gap": gap, "prompt": search} {
		got, err := in.write(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		golden := "testdata/" + name + ".md"
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, []byte(got.Body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got.Body != string(want) || !strings.HasPrefix(got.Body, "# "+got.Title+"\n") {
			t.Errorf("%s: %v, title %q, got\n%s\nwant\n%s", name, err, got.Title, got.Body, want)
		}
	}
}

// A suggestion without evidence, as people write them, has all sections, which say that nothing is known.
func TestBriefOfNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"gap", "source", "competitor", "alias", "prompt", "topic", "theme", "page"} {
		in := input{
			BriefedSuggestion: postgres.BriefedSuggestion{Kind: kind, Text: "Say more"},
			Brand:             postgres.Snapshot{Name: "Lumen"},
		}
		got, err := in.write(t.Context())
		if err != nil || got.Title != "Say more" || strings.Count(got.Body, "\n## ") != 6 ||
			!strings.Contains(got.Body, "No answers are known") {
			t.Errorf("%s: %v, title %q\n%s", kind, err, got.Title, got.Body)
		}
	}
}

// A theme has no link to its answers: its brief quotes them.
func TestBriefOfATheme(t *testing.T) {
	t.Parallel()
	in := input{
		BriefedSuggestion: postgres.BriefedSuggestion{
			Kind: "theme", Text: "3 answers criticise Lumen.",
		}, Brand: postgres.Snapshot{Name: "Lumen", Slug: "lumen"},
	}
	if err := json.Unmarshal([]byte(`{"answers": 3, "quotes": [{"answer_id": `+
		`"01890a5d-ac96-774b-bcce-b302099a8057", "text": "It flickers."}]}`), &in.evidence); err != nil {
		t.Fatal(err)
	}
	got, err := in.write(t.Context())
	const want = "What answers say against Lumen:\n\n- “It flickers.” " +
		"([answer](</brands/lumen/answers/01890a5d-ac96-774b-bcce-b302099a8057>))\n"
	if err != nil || !strings.Contains(got.Body, want) {
		t.Errorf("%v\n%s\nlacks\n%s", err, got.Body, want)
	}
}

// A caller who has gone stops the reading of texts.
func TestBriefEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := lamps()
	if got, err := in.write(ctx); !errors.Is(err, context.Canceled) || got.Body != "" {
		t.Errorf("%v and %d bytes, want that it was cancelled", err, len(got.Body))
	}
}

// hostile are texts that Markdown would read as something else.
var hostile = []string{
	"](javascript:alert(1))", "[x](https://evil.example)", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
	"![x](https://evil.example/p.png)",
	"https://evil.example/", "www.evil.example", "me@evil.example",
	"<https://evil.example>", "&lt;b&gt;", "`code`", "# heading", "1. item", "- item", "+ item",
	"a\n\n# b\n\n[c]: https://evil.example", "---", "===", "| a | b |", "[c]: https://evil.example", "~~~\ncode", "```",
	"\\](https://evil.example)",
	"**bold** __x__", "\u202egnp.exe", "[^1]", "{{.}}", "$x$", "> quote", "FTP://evil.example", "WWW.evil.example",
	"mailto:me@evil.example", "xmpp:me@evil.example", "\x00\xff",
}

// Whatever texts and addresses hold, the brief has no HTML, no code, no picture, and links only to cited pages of the
// web and to the dashboard; its headings stay, and each text is shown.
func TestHostileTextsAreText(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		say := func() string {
			return hostile[random.IntN(len(hostile))] + " " + hostile[random.IntN(len(hostile))]
		}
		in := lamps()
		in.Text, in.Reason, in.Themes, in.Brand.Name, in.Rival.Name = say(), say(), []string{say()}, say(), say()
		in.Kind, in.Name = []string{"gap", "prompt"}[seed%2], say()
		for i := range in.Read {
			a := &in.Read[i]
			a.PromptText, a.Platform, a.Searches = say(), say(), []string{say(), say()}
			a.Text = "Aurora is fanless and it says " + say() + " to all of its buyers.\n" + say()
			a.Titles = []string{say(), say()}
			a.URLs = []string{
				[]string{
					"javascript:alert(1)", "https://reviews.example/a(b)<c>\\)[x](https://evil.example)&copy;",
					"data:text/html,x", "//evil.example",
				}[random.IntN(4)], "https://lumen.example/" + say(),
			}
		}
		brief, err := in.write(t.Context())
		if err != nil || len(brief.Body) > 1<<18 {
			t.Fatalf("seed %d: %v, %d bytes", seed, err, len(brief.Body))
		}
		judge(t, seed, []byte(brief.Body))
	}
}

func judge(t *testing.T, seed uint64, source []byte) {
	t.Helper()
	document := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser().
		Parse(text.NewReader(source))
	headings := 0
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			headings++
		case *ast.Link:
			u, err := url.Parse(string(n.Destination))
			if err != nil ||
				!slices.Contains([]string{"answers.example", "reviews.example", "lumen.example"}, u.Host) ||
				u.Scheme != "https" {
				t.Errorf("seed %d: a link to %s", seed, n.Destination)
			}
		case *ast.AutoLink, *ast.RawHTML, *ast.HTMLBlock, *ast.Image, *ast.CodeBlock, *ast.CodeSpan,
			*ast.FencedCodeBlock, *ast.Emphasis:
			t.Errorf("seed %d: a %s in\n%s", seed, n.Kind(), source)
		}
		return ast.WalkContinue, nil
	})
	if headings != 7 {
		t.Errorf("seed %d: %d headings in\n%s", seed, headings, source)
	}
}

// Texts of a megabyte without a blank are cut: a brief is small whatever it is written from.
func TestLargeTextsAreCut(t *testing.T) {
	t.Parallel()
	in := lamps()
	huge := strings.Repeat("Aurora", 1<<17)
	in.Text, in.Reason, in.Brand.Name, in.Rival.Name, in.Read[0].Titles[0] = huge, huge, huge, huge, huge
	in.Read[0].PromptText, in.Read[1].Text, in.Read[2].Searches = huge, huge, []string{huge, "lamp " + huge}
	brief, err := in.write(t.Context())
	if err != nil || len(brief.Body) > 16<<10 || len(brief.Title) > 512 {
		t.Errorf("%v: %d bytes, a title of %d", err, len(brief.Body), len(brief.Title))
	}
}

// The outline of searches that are all different has a few of them, and so have the other lists.
func TestListsAreCut(t *testing.T) {
	t.Parallel()
	in := lamps()
	for i := range 300 {
		a := in.Read[i%3]
		a.ID, a.PromptText = clickhouse.UUID{1, byte(i / 256), byte(i)}, fmt.Sprintf("prompt%d", i)
		a.URLs, a.Searches = []string{
			fmt.Sprintf("https://reviews.example/%d", i), "https://lumen.example/a",
		}, []string{fmt.Sprintf("search%d", i)}
		in.Read = append(in.Read, a)
	}
	brief, err := in.write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{
		"\n- search": 6, // after two others
		"\n- prompt": 4, "](https://reviews.example/": 10, "\n- “": 3,
	} {
		if n := strings.Count(brief.Body, what); n != want {
			t.Errorf("%d × %q, want %d:\n%s", n, what, want, brief.Body)
		}
	}
}
