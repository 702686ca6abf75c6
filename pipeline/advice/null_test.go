package advice

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// permutations is how often the names of each brand are exchanged.
const permutations = 100

// A naming is an answer by what a rule of comparisons reads of it: whether it names the brand, which is the first
// entity, and each competitor.
type naming struct {
	prompt  clickhouse.UUID
	named   []bool
	domains []string // that it cites, none of them the brand's or a competitor's
}

// Where the names of a real brand and its rivals are exchanged at random, what the rules still find is chance: gaps
// where they are exchanged in each answer, sources where they are exchanged in all answers to a prompt together. The
// phrasings of a need are one prompt, since a run has one answer of a platform to each.
func TestChanceGivesHardlyAnything(t *testing.T) {
	t.Parallel()
	lines, err := os.ReadFile(shared + "data/real-answers/run-1.ndjson")
	if err != nil {
		t.Logf("LEFT OUT: %v, nothing was computed", err)
		return
	}
	text, err := os.ReadFile(shared + "data/real-answers/brands.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Brands []struct {
			event.Entity
			Competitors []event.Entity `json:"competitors"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	captures, _ := capturesOf(t, lines, true)
	random := rand.New(rand.NewPCG(29, 7))
	var gaps, sources, judged int
	for _, b := range file.Brands {
		s := newSet("null "+b.Name, b.Entity, b.Competitors...)
		var answers []naming
		for _, c := range captures {
			s.add(c.answer(s.prompt(c.Prompt, c.Topic)))
			answers = append(answers, namingOf(&s.answers[len(s.answers)-1]))
		}
		for range permutations {
			found := findGaps(&s.brand, exchanged(s, answers, random, false))
			gaps, judged = gaps+found.Found, judged+found.Judged
			sources += findSources(&s.brand, exchanged(s, answers, random, true)).Found
		}
	}
	times := float64(permutations * len(file.Brands))
	t.Logf("%.2f gaps and %.2f sources a brand by chance, of %.0f prompts", float64(gaps)/times, float64(sources)/times,
		float64(judged)/times)
	if judged == 0 || float64(gaps)/times > 0.5 || float64(sources)/times > 0.7 {
		t.Errorf("%d gaps and %d sources in %.0f sets, want at most 0.5 and 0.7 a set", gaps, sources, times)
	}
}

func namingOf(a *event.Answer) naming {
	reading := extract.Read(a)
	n := naming{prompt: clickhouse.UUID(a.Prompt.ID), named: []bool{reading.Brand.Mentions > 0}}
	for _, c := range reading.Competitors {
		n.named = append(n.named, c.Mentions > 0)
	}
	for _, c := range reading.Citations {
		if c.Cited && !c.Owned && c.CompetitorID == uuid.Nil && !slices.Contains(n.domains, c.Domain) {
			n.domains = append(n.domains, c.Domain)
		}
	}
	return n
}

// exchanged returns the rows of all answers and of each domain, with the names of the entities exchanged at random: in
// each answer by itself, or in all answers to a prompt alike.
func exchanged(s *set, answers []naming, random *rand.Rand, alike bool) (rows []clickhouse.PromptNames) {
	orders := map[clickhouse.UUID][]int{}
	byKey := map[string]map[clickhouse.UUID]*clickhouse.PromptNames{}
	for _, a := range answers {
		order := orders[a.prompt]
		if order == nil || !alike {
			order = random.Perm(len(a.named))
			orders[a.prompt] = order
		}
		for _, domain := range append([]string{""}, a.domains...) {
			if byKey[domain] == nil {
				byKey[domain] = map[clickhouse.UUID]*clickhouse.PromptNames{}
			}
			row := byKey[domain][a.prompt]
			if row == nil {
				row = &clickhouse.PromptNames{
					Domain: domain, PromptID: a.prompt, RivalAnswers: make([]int64, len(a.named)-1),
				}
				for _, c := range s.brand.Competitors {
					row.Rivals = append(row.Rivals, clickhouse.UUID(c.ID))
				}
				byKey[domain][a.prompt] = row
			}
			row.Answers++
			for i, from := range order {
				switch {
				case !a.named[from]:
				case i == 0:
					row.BrandAnswers++
				default:
					row.RivalAnswers[i-1]++
				}
			}
		}
	}
	for _, byPrompt := range byKey {
		for _, row := range byPrompt {
			row.Prompts, row.CriticalT = uint64(len(byPrompt)), 2
			rows = append(rows, *row)
		}
	}
	slices.SortFunc(rows, func(a, b clickhouse.PromptNames) int {
		if a.Domain != b.Domain {
			return slices.Compare([]byte(a.Domain), []byte(b.Domain))
		}
		return slices.Compare(a.PromptID[:], b.PromptID[:])
	})
	return rows
}
