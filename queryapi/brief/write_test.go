package brief

import (
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

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
			Reason: "Named as often, your mention rate would be at most 2.5 points higher.", Themes: []string{`"flicker" is said of Lumen in 4 answers.`},
		},
		brand: postgres.Snapshot{Name: "Lumen", Slug: "lumen", Domains: []string{"lumen.example"}, Competitors: []postgres.Competitor{{ID: rival, Name: "Aurora"}}},
		now:   time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC), Total: 3, publicURL: "https://answers.example",
		crawls: []clickhouse.CrawlCount{{Facet: "total", Requests: 40}, {Facet: "status", Name: "403", Requests: 3}, {Facet: "status", Name: "200", Requests: 37}},
	}
	brand, named := int64(0), int64(3)
	in.Window.From, in.Window.To, in.Open, in.Answers = "2026-08-27", "2026-11-25", "prompt_id=01890a5d-ac96-774b-bcce-b302099a8057&mentioned=false", 3
	in.evidence.Rival.ID, in.evidence.Rival.Name, in.BrandAnswers, in.RivalAnswers = rival, "Aurora", &brand, &named
	in.BrandInterval, in.RivalInterval = &advice.Interval{Low: 0, High: 56.2}, &advice.Interval{Low: 43.8, High: 100}
	for i, sentence := range []string{
		"The Aurora One has a fanless driver and a warm dimmer for long evenings.",
		"Buyers like that the Aurora One is fanless and comes with a five year warranty.",
		"We tested it twice. Aurora stays fanless even when the dimmer is at full power.",
	} {
		in.read = append(in.read, clickhouse.BriefedAnswer{
			ID: clickhouse.UUID{15: byte(i)}, PromptText: "Which desk lamp is quiet?", Platform: []string{"openai", "gemini", "openai"}[i],
			Text: sentence + " Lumen makes lamps.", Searches: []string{"fanless desk lamp 2026", "fanless desk lamps", "quiet lamp warranty"}[:i+1],
			URLs: []string{"https://reviews.example/best-lamps", "https://lumen.example/a"}, Titles: []string{"The best lamps", ""},
			Types: []string{"editorial", "editorial"}, Owned: []bool{false, true},
		})
	}
	return in
}

// The whole brief of a gap; UPDATE=1 writes it.
func TestBriefOfAGap(t *testing.T) {
	t.Parallel()
	got, err := write(lamps())
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/gap.md"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got.Body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got.Body != string(want) || got.Title != "Which desk lamp is quiet?" {
		t.Errorf("%v, title %q, got\n%s\nwant\n%s", err, got.Title, got.Body, want)
	}
}

// A suggestion without evidence, as people write them, has all sections, which say that nothing is known.
func TestBriefOfNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"gap", "source", "competitor", "alias", "prompt", "topic", "theme", "page"} {
		got, err := write(input{BriefedSuggestion: postgres.BriefedSuggestion{Kind: kind, Text: "Say more"}, brand: postgres.Snapshot{Name: "Lumen"}})
		if err != nil || got.Title != "Say more" || strings.Count(got.Body, "\n## ") != 6 || !strings.Contains(got.Body, "No answers are known") {
			t.Errorf("%s: %v, title %q\n%s", kind, err, got.Title, got.Body)
		}
	}
}

// hostile are texts that Markdown would read as something else.
var hostile = []string{
	"](javascript:alert(1))", "[x](https://evil.example)", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![x](https://evil.example/p.png)",
	"https://evil.example/", "www.evil.example", "me@evil.example", "<https://evil.example>", "&lt;b&gt;", "`code`", "# heading", "1. item", "- item", "+ item",
	"a\n\n# b\n\n[c]: https://evil.example", "---", "===", "| a | b |", "[c]: https://evil.example", "~~~\ncode", "```", "\\](https://evil.example)",
	"**bold** __x__", "\u202egnp.exe", "[^1]", "{{.}}", "$x$", "> quote", "FTP://evil.example", "WWW.evil.example", "mailto:me@evil.example", "xmpp:me@evil.example", "\x00\xff",
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
		in.Text, in.Reason, in.Themes, in.brand.Name, in.evidence.Rival.Name = say(), say(), []string{say()}, say(), say()
		in.Query = say()
		for i := range in.read {
			a := &in.read[i]
			a.PromptText, a.Platform, a.Searches = say(), say(), []string{say(), say()}
			a.Text = "Aurora is fanless and it says " + say() + " to all of its buyers.\n" + say()
			a.Titles = []string{say(), say()}
			a.URLs = []string{[]string{"javascript:alert(1)", "https://reviews.example/a(b)<c>\\)[x](https://evil.example)&copy;", "data:text/html,x", "//evil.example"}[random.IntN(4)], "https://lumen.example/" + say()}
		}
		brief, err := write(in)
		if err != nil || len(brief.Body) > 1<<18 {
			t.Fatalf("seed %d: %v, %d bytes", seed, err, len(brief.Body))
		}
		judge(t, seed, []byte(brief.Body))
	}
}

func judge(t *testing.T, seed uint64, source []byte) {
	t.Helper()
	document := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser().Parse(text.NewReader(source))
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
			if err != nil || !slices.Contains([]string{"answers.example", "reviews.example", "lumen.example"}, u.Host) || u.Scheme != "https" {
				t.Errorf("seed %d: a link to %s", seed, n.Destination)
			}
		case *ast.AutoLink, *ast.RawHTML, *ast.HTMLBlock, *ast.Image, *ast.CodeBlock, *ast.CodeSpan, *ast.FencedCodeBlock, *ast.Emphasis:
			t.Errorf("seed %d: a %s in\n%s", seed, n.Kind(), source)
		}
		return ast.WalkContinue, nil
	})
	if headings != 7 {
		t.Errorf("seed %d: %d headings in\n%s", seed, headings, source)
	}
}

// A text of a megabyte without a blank is cut, and quickly.
func TestLargeTextsAreCut(t *testing.T) {
	t.Parallel()
	in, began := lamps(), time.Now()
	huge := strings.Repeat("Aurora", 1<<17)
	in.Text, in.Reason, in.brand.Name, in.Query, in.read[0].Titles[0] = huge, huge, huge, huge, huge
	for range maxAnswers {
		in.read = append(in.read, clickhouse.BriefedAnswer{PromptText: huge[:2000], Text: strings.Repeat("Aurora is fanless, ", 800), Searches: []string{huge[:2000]}})
	}
	brief, err := write(in)
	if took := time.Since(began); err != nil || len(brief.Body) > 64<<10 || len(brief.Title) > 512 || took > 20*time.Second {
		t.Errorf("%v: %d bytes in %v", err, len(brief.Body), took)
	}
}

func TestSlugs(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		`Which "desk lamp"; is quiet?` + "\r\n": "which-desk-lamp-is-quiet", "Über Käse": "uber-kase", "日本": "brief", "": "brief", strings.Repeat("ab ", 60): strings.TrimSuffix(strings.Repeat("ab-", 27), "-"),
	} {
		if got := slug(title); got != want {
			t.Errorf("%q: %s, want %s", title, got, want)
		}
	}
}
