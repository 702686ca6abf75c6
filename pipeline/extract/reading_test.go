package extract

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/tools/txtar"

	"github.com/answerscope/answerscope/ingest/event"
)

var update = flag.Bool("update", false, "rewrite the readings of testdata, and the version's golden")

// Every rule has a case in testdata/reading: the comment says why the reading is so. Sections: entities (the brand,
// then its competitors, a line each: names, comma-separated, and after a semicolon domains), text, language, prompt,
// citations (+ cited, - consulted; URL, title), products (a JSON object a line), reading.
func TestReadings(t *testing.T) {
	files, err := filepath.Glob("testdata/reading/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Comment) == 0 {
				t.Error("the case does not say why its reading is right")
			}
			answer, want := caseOf(t, archive)
			reading := Read(answer)
			got := show(answer, &reading)
			if got == string(want.Data) {
				return
			}
			if !*update {
				t.Fatalf("reading is\n%s\nwant\n%s", got, want.Data)
			}
			want.Data = []byte(got)
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func caseOf(t *testing.T, archive *txtar.Archive) (*event.Answer, *txtar.File) {
	t.Helper()
	a := &event.Answer{}
	var reading *txtar.File
	for i := range archive.Files {
		f := &archive.Files[i]
		body := strings.TrimSuffix(string(f.Data), "\n")
		switch f.Name {
		case "entities":
			for n, line := range strings.Split(body, "\n") {
				e := entityOf(n, line)
				if n == 0 {
					a.Brand.Entity = e
				} else {
					a.Competitors = append(a.Competitors, e)
				}
			}
		case "text":
			a.Text = body
		case "language":
			a.Language = body
		case "prompt":
			a.Prompt.Text = body
		case "citations":
			for line := range strings.Lines(body) {
				sign, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				url, title, _ := strings.Cut(rest, " ")
				a.Citations = append(a.Citations, event.Citation{URL: url, Title: title, Cited: sign == "+"})
			}
		case "products":
			for line := range strings.Lines(body) {
				var p event.Product
				if err := json.Unmarshal([]byte(line), &p); err != nil {
					t.Fatalf("product %s: %v", line, err)
				}
				a.Products = append(a.Products, p)
			}
		case "reading":
			reading = f
		default:
			t.Fatalf("unknown section %s", f.Name)
		}
	}
	if reading == nil {
		t.Fatal("no section reading")
	}
	return a, reading
}

func entityOf(n int, line string) event.Entity {
	names, domains, _ := strings.Cut(line, ";")
	all := strings.Split(names, ",")
	e := event.Entity{ID: id(n), Name: strings.TrimSpace(all[0])}
	for _, alias := range all[1:] {
		e.Aliases = append(e.Aliases, strings.TrimSpace(alias))
	}
	for domain := range strings.FieldsSeq(domains) {
		e.Domains = append(e.Domains, domain)
	}
	return e
}

// show writes a reading for people, a line each thing.
func show(a *event.Answer, r *Reading) string {
	called := map[uuid.UUID]string{a.Brand.ID: a.Brand.Name, uuid.Nil: "-"}
	for _, c := range a.Competitors {
		called[c.ID] = c.Name
	}
	var out strings.Builder
	if r.Branded {
		out.WriteString("branded\n")
	}
	for _, e := range append([]EntityReading{r.Brand}, r.Competitors...) {
		fmt.Fprintf(&out, "%s: mentions %d, position %d, citations %d, score %d, %s\n", called[e.ID], e.Mentions,
			e.Position, e.Citations, e.VisibilityScore, e.Sentiment)
	}
	for _, c := range r.Citations {
		state, owner := "consulted", called[c.CompetitorID]
		if c.Cited {
			state = "cited"
		}
		if c.Owned {
			owner += ", own"
		}
		fmt.Fprintf(&out, "%s %s: host %s, domain %s, %s, of %s, title %q\n", state, c.URL, c.Host, c.Domain, c.Listed,
			owner, c.Title)
	}
	for _, c := range r.Cards {
		fmt.Fprintf(&out, "card %d: %q by %q, %q %q, at %q, %s of %s\n", c.Position, c.Title, c.Brand, c.PriceAmount,
			c.PriceCurrency, c.MerchantDomain, c.Role, called[c.MatchedID])
	}
	return out.String()
}
