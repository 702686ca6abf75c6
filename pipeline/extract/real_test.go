package extract

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

// realAnswers are answers of consumers' assistants with cited URLs and products, kept beside the repository and not
// in it.
const realAnswers = "../../../shared/data/real-answers"

// Real answers are read the same each time, and their sums are shown. That they are right is proved in
// internal/testkit/naive, which reads them a second way.
func TestRealAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realAnswers, "*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Logf("LEFT OUT: there are no answers in %s, nothing was compared", realAnswers)
		return
	}
	for _, name := range files {
		answers := readAnswers(t, name)
		for _, brand := range readBrands(t) {
			sums := map[string]*EntityReading{}
			tones := map[string]map[Sentiment]int{}
			var citations, cards int
			for _, a := range answers {
				a.Brand, a.Competitors = brand.Brand, brand.Competitors
				r := Read(a)
				if again := Read(a); !reflect.DeepEqual(r, again) {
					t.Fatalf("%s, prompt %q: read twice, differs", name, a.Prompt.Text)
				}
				citations += len(r.Citations)
				cards += len(r.Cards)
				for i, e := range append([]EntityReading{r.Brand}, r.Competitors...) {
					entity := brand.Brand.Name
					if i > 0 {
						entity = brand.Competitors[i-1].Name
					}
					if sums[entity] == nil {
						sums[entity], tones[entity] = &EntityReading{}, map[Sentiment]int{}
					}
					sum := sums[entity]
					sum.Mentions += e.Mentions
					sum.Citations += e.Citations
					if e.Position > 0 {
						sum.Position++
					}
					tones[entity][e.Sentiment]++
				}
			}
			t.Logf("%s, %s: %d answers, %d citations, %d cards", filepath.Base(name),
				brand.Brand.Name, len(answers), citations, cards)
			for entity, sum := range sums {
				t.Logf("  %-14s named in %3d answers, %4d mentions, %3d own citations, %v", entity, sum.Position,
					sum.Mentions, sum.Citations, tones[entity])
			}
		}
	}
}

type tracked struct {
	Brand       event.Brand
	Competitors []event.Entity
}

func readBrands(t *testing.T) []tracked {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(realAnswers, "brands.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Brands []struct {
			event.Entity
			Competitors []event.Entity `json:"competitors"`
		} `json:"brands"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var all []tracked
	for _, b := range file.Brands {
		all = append(all, tracked{event.Brand{Entity: b.Entity}, b.Competitors})
	}
	return all
}

// readAnswers reads the fields of the import format that a reading depends on.
func readAnswers(t *testing.T, name string) []*event.Answer {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []*event.Answer
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, event.MaxRecordBytes)
	for lines.Scan() {
		var line struct {
			Prompt, Text, Language string
			Citations              []struct {
				URL, Title string
				Cited      *bool
			}
			Products []struct {
				Title, Brand, URL string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		a := &event.Answer{Text: line.Text, Language: line.Language, Prompt: event.Prompt{Text: line.Prompt}}
		for _, c := range line.Citations {
			a.Citations = append(a.Citations, event.Citation{
				URL: c.URL, Title: c.Title, Cited: c.Cited == nil || *c.Cited,
			})
		}
		for _, p := range line.Products {
			a.Products = append(a.Products, event.Product{Title: p.Title, Brand: p.Brand, URL: p.URL})
		}
		all = append(all, a)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
