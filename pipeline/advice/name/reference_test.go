package name

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// Real answers and an independent program are beside the checkout and not in the repository.
const (
	realAnswers = "../../../../shared/data/real-answers"
	reference   = "../../../../shared/reference/suggestions_reference.py"
)

// A tracked brand is as in brands.json and in the independent program's flags.
type tracked struct {
	extract.Entity
	Slug        string
	Competitors []extract.Entity
}

// record is an answer in the import format.
type record struct {
	Prompt, Platform, Text, Language string
	Topic                            string     `json:"topic"`
	AnsweredAt                       string     `json:"answered_at"`
	Citations                        []struct{} `json:"citations"`
}

// Names are those of the independent program on the real answers: same keys, order, counts and scores.
func TestNamesAreThoseOfTheReference(t *testing.T) {
	var file struct{ Brands []tracked }
	readJSON(t, filepath.Join(realAnswers, "brands.json"), &file)
	lines := readLines(t, filepath.Join(realAnswers, "run-1.ndjson"))
	for _, brand := range file.Brands {
		t.Run(brand.Slug, func(t *testing.T) {
			want := runReference(t, filepath.Join(realAnswers, "brands.json"), brand.Slug,
				filepath.Join(realAnswers, "run-1.ndjson"))
			r := readAll(brand, lines)
			compare(t, r, want)
			for _, theme := range r.Themes {
				t.Logf("%s: %d answers, %d prompts of %d", theme.Words, theme.Answers, theme.Prompts, theme.Naming)
				for _, q := range theme.Quotes {
					t.Logf("    %q", q.Text)
				}
			}
		})
	}
}

// Competitors that are hidden come back among the first 20 names: at least 13 of 14, as the best that we could do on
// these answers.
func TestHiddenCompetitorsComeBack(t *testing.T) {
	t.Parallel()
	var file struct{ Brands []tracked }
	readJSON(t, filepath.Join(realAnswers, "brands.json"), &file)
	lines := readLines(t, filepath.Join(realAnswers, "run-1.ndjson"))
	var all, back int
	for _, brand := range file.Brands {
		for i, c := range brand.Competitors {
			others := brand
			others.Competitors = slices.Delete(slices.Clone(brand.Competitors), i, i+1)
			names := readAll(others, lines).Names
			all++
			if slices.ContainsFunc(names[:min(20, len(names))], func(n Name) bool {
				return slices.ContainsFunc(append(c.Aliases, c.Name), func(name string) bool {
					name = extract.Fold(name) + " "
					return strings.HasPrefix(name, n.Key+" ") || strings.HasPrefix(n.Key+" ", name)
				})
			}) {
				back++
			} else {
				t.Logf("%s did not come back to %s", c.Name, brand.Name)
			}
		}
	}
	if all < 14 || back < all-1 {
		t.Errorf("%d of %d came back", back, all)
	}
}

type suggestion struct {
	Kind, Key string
	Score     float64
	Evidence  Name
}

func compare(t *testing.T, r Result, want []suggestion) {
	t.Helper()
	names := slices.Clone(r.Names)
	score := func(n Name) float64 { return math.Floor(1000*float64(n.Beside)/float64(r.Answers)+0.5+1e-9) / 10 }
	slices.SortFunc(names, func(a, b Name) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.Key, b.Key))
	})
	for i := range max(len(names), len(want)) {
		if i < len(want) {
			want[i].Evidence.Key = want[i].Key
		}
		if i >= len(names) || i >= len(want) || !reflect.DeepEqual(names[i], want[i].Evidence) ||
			score(names[i]) != want[i].Score {
			t.Errorf("name %d of %d and %d:\n%+v\nthe reference:\n%+v", i, len(names), len(want), names[i:],
				want[min(i, len(want)):])
			break
		}
	}
}

// readAll reads the answers of all but shopping platforms, with readings by the extractor.
func readAll(brand tracked, lines []record) Result {
	texts := New(brand.Entity, brand.Competitors)
	for i, l := range lines {
		reading := extract.Read(&event.Answer{
			Language: l.Language, Text: l.Text, Brand: event.Brand{Entity: brand.Entity},
			Competitors: brand.Competitors,
		})
		a := Answer{
			ID: uuid.NewV5(uuid.Nil, string(rune(i))), PromptID: uuid.NewV5(uuid.Nil, l.Prompt), Prompt: l.Prompt,
			Platform: l.Platform,
			Language: l.Language, Text: l.Text, Brand: reading.Brand.Mentions > 0, Tracked: reading.Brand.Mentions > 0,
		}
		for _, c := range reading.Competitors {
			a.Tracked = a.Tracked || c.Mentions > 0
		}
		texts.Add(a)
	}
	return texts.Result()
}

func runReference(t *testing.T, brands, slug string, answers ...string) (competitors []suggestion) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("LEFT OUT: %v, nothing was compared", err)
	}
	if _, err := os.Stat(reference); err != nil {
		t.Skipf("LEFT OUT: %v, nothing was compared", err)
	}
	out, err := exec.CommandContext(t.Context(), "python3",
		append([]string{reference, "--brands", brands, "--brand", slug}, answers...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Suggestions []suggestion }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for _, s := range got.Suggestions {
		if s.Kind == "competitor" {
			competitors = append(competitors, s)
		}
	}
	return competitors
}

func readJSON(t *testing.T, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("LEFT OUT: %v, nothing was compared", err)
	}
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readLines(t *testing.T, name string) (lines []record) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, event.MaxRecordBytes)
	for scanner.Scan() {
		var l record
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}
