package advice

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/warehouse"
)

// shared has real answers and an independent computation, beside the repository and not in it.
const shared = "../../../shared/"

// A capture is a line of the import format.
type capture struct {
	Platform   string    `json:"platform"`
	Prompt     string    `json:"prompt"`
	Topic      string    `json:"topic"`
	AnsweredAt time.Time `json:"answered_at"`
	Text       string    `json:"text"`
	Language   string    `json:"language"`
	Citations  []struct {
		URL   string `json:"url"`
		Title string `json:"title,omitempty"`
		Cited *bool  `json:"cited,omitempty"`
	} `json:"citations"`
	SearchQueries []string `json:"search_queries,omitempty"`
}

// Keys, order, counts and scores are those of a computation that has nothing of this one: of the answers as they are,
// which have few to a prompt and no searches, and of the same with the phrasings of a need as one prompt, and with
// searches made of prompts.
func TestRealAnswersGiveTheSameAsAnIndependentComputation(t *testing.T) {
	t.Parallel()
	lines, err := os.ReadFile(shared + "data/real-answers/run-1.ndjson")
	if err != nil {
		t.Logf("LEFT OUT: %v, nothing was compared", err)
		return
	}
	var file struct {
		Brands []struct {
			event.Entity
			Slug        string         `json:"slug"`
			Competitors []event.Entity `json:"competitors"`
		}
	}
	text, err := os.ReadFile(shared + "data/real-answers/brands.json")
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	conn := warehouse.Migrated(t)
	for _, enriched := range []bool{false, true} {
		captures, path := capturesOf(t, lines, enriched)
		for _, b := range file.Brands[:testkit.Draws(1, len(file.Brands))] {
			for _, topics := range []string{"", "electronics", "home"}[:testkit.Draws(1, 3)] {
				name := fmt.Sprint(b.Slug, topics, enriched)
				s := newSet(name, b.Entity, b.Competitors...)
				for _, c := range captures {
					if prompt := s.prompt(c.Prompt, c.Topic); topics == "" || c.Topic == topics {
						s.add(c.answer(prompt))
					}
				}
				land(t, conn, rand.New(rand.NewPCG(1, 1)), false, s)
				want := reference(t, path, b.Slug, topics)
				var got []outcome
				for _, found := range s.apply(t, conn) {
					if found.Found > maxSuggestions { // the other has no cut
						want = slices.DeleteFunc(want, func(o outcome) bool {
							return o.Kind == found.Kind && !slices.ContainsFunc(found.Suggestions,
								func(s Suggestion) bool {
									return s.Key == o.Key
								})
						})
					}
					t.Logf("%s: %d of kind %s of %d tried, %.1f by chance", name, found.Found, found.Kind, found.Judged,
						found.ByChance)
					got = append(got, outcomes(s, found)...)
				}
				compareOutcomes(t, name, got, want)
			}
		}
	}
}

func (c capture) answer(prompt event.Prompt) event.Answer {
	a := event.Answer{
		Prompt: prompt, Platform: c.Platform, Language: c.Language, Text: c.Text, SearchQueries: c.SearchQueries,
		AnsweredAt: event.At(c.AnsweredAt),
	}
	for _, x := range c.Citations {
		a.Citations = append(a.Citations, event.Citation{URL: x.URL, Title: x.Title, Cited: x.Cited == nil || *x.Cited})
	}
	return a
}

// capturesOf reads captures, enriched or as they are, and returns a file that has them.
func capturesOf(t *testing.T, lines []byte, enriched bool) (captures []capture, path string) {
	t.Helper()
	random, order, out := rand.New(rand.NewPCG(7, 7)), []string{}, bytes.Buffer{}
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, event.MaxRecordBytes)
	for scanner.Scan() {
		var c capture
		if err := json.Unmarshal(scanner.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(order, c.Prompt) {
			order = append(order, c.Prompt)
		}
		captures = append(captures, c)
	}
	for i := range captures {
		if c := &captures[i]; enriched {
			c.Prompt = order[slices.Index(order, c.Prompt)/4*4]
			for range random.IntN(4) {
				words := strings.Fields(order[random.IntN(len(order))])
				random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
				words = append(words[:max(1, len(words)-random.IntN(5))],
					[]string{"2025", "site:example.org", "Réviews", "sale", "germany"}[random.IntN(5)])
				c.SearchQueries = append(c.SearchQueries, strings.Join(words, " "))
			}
		}
		line, err := json.Marshal(captures[i])
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	path = filepath.Join(t.TempDir(), "answers.ndjson")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return captures, path
}

// An outcome is what both say of a suggestion. Keys of gaps are the prompts' texts.
type outcome struct {
	Kind     string
	Key      string
	Score    float64
	Evidence map[string]any
}

func reference(t *testing.T, path, slug, topics string) []outcome {
	t.Helper()
	command := exec.CommandContext(t.Context(), "python3", shared+"reference/suggestions_reference.py",
		"--brands", shared+"data/real-answers/brands.json", "--brand", slug, "--topics", topics, path)
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var body struct{ Suggestions []outcome }
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(body.Suggestions, func(o outcome) bool { return o.Kind == "competitor" })
}

func outcomes(s *set, found Result) (list []outcome) {
	for _, suggestion := range found.Suggestions {
		o := outcome{suggestion.Kind, suggestion.Key, suggestion.Score, map[string]any{}}
		text, _ := json.Marshal(suggestion.Evidence)
		_ = json.Unmarshal(text, &o.Evidence)
		for _, p := range s.brand.Prompts {
			if p.ID.String() == o.Key {
				o.Key = p.Text
			}
		}
		if rival, ok := o.Evidence["rival"].(map[string]any); ok {
			o.Evidence["rival"] = rival["name"]
		}
		if pages, ok := o.Evidence["pages"].([]any); ok {
			for _, p := range pages {
				delete(p.(map[string]any), "title")
				delete(p.(map[string]any), "page_kind")
			}
		}
		list = append(list, o)
	}
	return list
}

// compareOutcomes compares what the other says. Its gaps of a score are sorted by text, and ours by id.
func compareOutcomes(t *testing.T, name string, got, want []outcome) {
	t.Helper()
	for _, list := range [][]outcome{got, want} {
		slices.SortFunc(list, func(a, b outcome) int {
			return cmp.Or(strings.Compare(a.Kind, b.Kind), cmp.Compare(b.Score, a.Score), strings.Compare(a.Key, b.Key))
		})
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Errorf("%s: %d suggestions, want %d", name, len(got), len(want))
			return
		}
		for key := range got[i].Evidence {
			if _, ok := want[i].Evidence[key]; !ok {
				delete(got[i].Evidence, key)
			}
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s: got %+v, want %+v", name, got[i], want[i])
		}
	}
}
