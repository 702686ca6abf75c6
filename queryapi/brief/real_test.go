package brief

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// realAnswers are answers of consumers' assistants, kept beside the repository and not in it.
const realAnswers = "../../../shared/data/real-answers"

// The brief of a domain that real answers cite quotes them, and names pages; set BRIEF to a path to read it.
func TestBriefOfRealAnswers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(realAnswers, "brands.json"))
	if os.IsNotExist(err) {
		t.Logf("LEFT OUT: there are no answers in %s, no brief was written", realAnswers)
		return
	}
	var brands struct{ Brands []postgres.Snapshot }
	if err := json.Unmarshal(text, &brands); err != nil {
		t.Fatal(err)
	}
	brand := brands.Brands[0]
	brand.Slug = "apple"
	for i := range brand.Competitors {
		brand.Competitors[i].ID = uuid.UUID{15: byte(i + 1)}
	}
	in := input{Brand: brand, Computed: "2025-05-25 03:00 UTC", publicURL: "https://answers.example"}
	domain := "tomsguide.com"
	if in.Kind, in.Key = "source", domain; os.Getenv("BRIEF_PROMPT") != "" {
		in.Kind = "gap"
	}
	in.Read = realCiting(t, &in, domain, os.Getenv("BRIEF_PROMPT"))
	in.Total = len(in.Read)
	in.Window.From, in.Window.To, in.Open = "2025-02-24", "2025-05-24", "domain="+domain+"&mentioned=false"
	in.compare()
	in.Text = fmt.Sprintf("%s is named in %d of these %d answers, Apple in %d.", in.Rival.Name,
		in.RivalAnswers, in.Answers, in.BrandAnswers)
	brief, err := in.write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(brief.Body) > 1<<18 || !strings.Contains(brief.Body, "“") || strings.Count(brief.Body, "](http") < 10 {
		t.Errorf("no quotes, or few links, or %d bytes:\n%s", len(brief.Body), brief.Body)
	}
	if path := os.Getenv("BRIEF"); path != "" {
		if err := os.WriteFile(path, []byte(brief.Body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// realCiting returns the answers that cite a domain, or those to a prompt.
func realCiting(t *testing.T, in *input, domain, prompt string) (citing []clickhouse.BriefedAnswer) {
	t.Helper()
	file, err := os.Open(filepath.Join(realAnswers, "run-1.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		var line struct {
			Platform, Prompt, Topic, Text string
			Citations                     []event.Citation
			SearchQueries                 []string `json:"search_queries"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.Topic != "electronics" {
			continue
		}
		if line.Platform == "chatgpt-web" {
			in.prompts = append(in.prompts, postgres.TrackedPrompt{Text: line.Prompt, Topic: line.Topic})
		}
		for i := range line.Citations {
			line.Citations[i].Cited = true
		}
		a := clickhouse.BriefedAnswer{
			ID: clickhouse.UUID(uuid.NewV5(uuid.Nil, line.Prompt+line.Platform)), PromptText: line.Prompt,
			Platform: line.Platform, Text: line.Text, Searches: line.SearchQueries,
		}
		r := extract.Read(&event.Answer{Text: line.Text, Citations: line.Citations,
			Brand: event.Brand{Entity: event.Entity{Name: in.Brand.Name, Domains: in.Brand.Domains}}})
		var cites bool
		for _, c := range r.Citations {
			if c.Cited {
				a.URLs, a.Titles = append(a.URLs, c.URL), append(a.Titles, c.Title)
				a.Types, a.Owned = append(a.Types, string(c.Listed)), append(a.Owned, c.Owned)
				cites = cites || c.Domain == domain
			}
		}
		if prompt == "" && cites || prompt != "" && strings.Contains(line.Prompt, prompt) {
			citing = append(citing, a)
		}
	}
	return citing
}

// compare counts who is named, as the suggestion's evidence has it.
func (in *input) compare() {
	var brand, most int64
	for _, c := range in.Brand.Competitors {
		var named int64
		brand = 0
		own := extract.Entity{Name: in.Brand.Name, Aliases: in.Brand.Aliases}
		for _, a := range in.Read {
			var names [2]int64
			for _, m := range extract.Locate(extract.Version, a.Text, &own, []extract.Entity{extract.Entity(c)}) {
				names[m.Entity] = 1
			}
			brand, named = brand+names[0], named+names[1]
		}
		if named > most {
			most, in.Rival.ID, in.Rival.Name = named, c.ID, c.Name
		}
	}
	in.Answers, in.BrandAnswers, in.RivalAnswers = int64(len(in.Read)), brand, most
	wilson := func(x int64) advice.Interval {
		share, n := float64(x), float64(in.Answers)
		middle, half := share+1.96*1.96/2, 1.96*math.Sqrt(share*(n-share)/n+1.96*1.96/4)
		return advice.Interval{
			Low: 100 * max(0, middle-half) / (n + 1.96*1.96), High: 100 * (middle + half) / (n + 1.96*1.96),
		}
	}
	in.BrandInterval, in.RivalInterval = wilson(brand), wilson(most)
}
