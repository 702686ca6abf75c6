package name

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
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
			want := runReference(t, filepath.Join(realAnswers, "brands.json"), brand.Slug, filepath.Join(realAnswers, "run-1.ndjson"))
			r := readAll(brand, lines)
			compare(t, r.Names, want)
			for _, theme := range r.Themes {
				t.Logf("%s: %d answers, %d prompts of %d", theme.Words, theme.Answers, theme.Prompts, theme.Naming)
				for _, q := range theme.Quotes {
					t.Logf("    %q", q.Text)
				}
			}
		})
	}
}

type suggestion struct {
	Kind, Key string
	Score     float64
	Evidence  Name
}

func compare(t *testing.T, got []Name, want []suggestion) {
	t.Helper()
	var names []Name
	for _, s := range want {
		s.Evidence.Key, s.Evidence.Score = s.Key, s.Score
		names = append(names, s.Evidence)
	}
	for i := range max(len(got), len(names)) {
		if i >= len(got) || i >= len(names) || !reflect.DeepEqual(got[i], names[i]) {
			t.Errorf("name %d of %d and %d:\n%+v\nthe reference:\n%+v", i, len(got), len(names), got[i:], names[min(i, len(names)):])
			break
		}
	}
}

// readAll reads the answers of all but shopping platforms, with readings by the extractor.
func readAll(brand tracked, lines []record) Result {
	texts := New(brand.Entity, brand.Competitors)
	for i, l := range lines {
		reading := extract.Read(&event.Answer{
			Language: l.Language, Text: l.Text, Brand: event.Brand{Entity: brand.Entity}, Competitors: brand.Competitors,
		})
		a := Answer{
			ID: uuid.NewV5(uuid.Nil, string(rune(i))), PromptID: uuid.NewV5(uuid.Nil, l.Prompt), Prompt: l.Prompt, Platform: l.Platform,
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
	out, err := exec.CommandContext(t.Context(), "python3", append([]string{reference, "--brands", brands, "--brand", slug}, answers...)...).Output()
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
