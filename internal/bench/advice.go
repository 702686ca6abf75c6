package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/advice/name"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// advising is the size of the invented brand, the limits of its computation, and the rank that a name must reach.
var advising = struct {
	answers, bytes, first int
	time                  time.Duration
	memory                float64
}{13_000, 3000, 20, 5 * time.Second, 200 << 20}

// A trackedBrand is a brand with its competitors, as brands.json has it.
type trackedBrand struct {
	event.Entity
	Competitors []event.Entity `json:"competitors"`
}

// measureAdvice measures how long names and criticism of 13,000 answers take and how much memory. If there are real
// answers, it hides each competitor and counts those that come back among the first names.
func measureAdvice(_ context.Context, o Options, _ *stack, r *Result) error {
	answers := inventedAnswers()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	texts := name.New(event.Entity{Name: "Lumen"}, nil)
	for _, a := range answers {
		texts.Add(a)
	}
	texts.Result()
	r.Figures["computation_ms"] = float64(time.Since(began).Milliseconds() + 1)
	runtime.ReadMemStats(&after)
	r.Figures["memory_bytes"] = max(float64(after.Sys)-float64(before.HeapInuse), 1)
	runtime.KeepAlive(answers)
	r.Ceilings["computation_ms"] = float64(advising.time.Milliseconds())
	r.Ceilings["memory_bytes"] = advising.memory
	r.Ratios["computation"] = r.Figures["computation_ms"] / r.Ceilings["computation_ms"]
	r.Ratios["memory"] = r.Figures["memory_bytes"] / r.Ceilings["memory_bytes"]
	err := hideCompetitors(o, r)
	if errors.Is(err, fs.ErrNotExist) {
		o.Progress("  LEFT OUT: no real answers, no competitor was hidden: %v", err)
		return nil
	}
	return err
}

func inventedAnswers() []name.Answer {
	answers := make([]name.Answer, advising.answers)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range answers {
		var text strings.Builder
		for text.Len() < advising.bytes {
			fmt.Fprintf(&text, "### %d. **Maker%d Pro %d** – $99\n* Pros: bright%d, quiet and small\n* Cons: it lacks a cable. The Lumen is fine.\n",
				random.IntN(9), random.IntN(200), random.IntN(5000), random.IntN(3000))
		}
		prompt := fmt.Sprintf("which lamp number %d?", i%100)
		answers[i] = name.Answer{
			ID: uuid.NewV5(uuid.Nil, fmt.Sprint(i)), PromptID: uuid.NewV5(uuid.Nil, prompt), Prompt: prompt, Platform: "bench",
			Text: text.String(), Brand: true, Tracked: true,
		}
	}
	return answers
}

// hideCompetitors reads the real answers of every brand, once with all of its competitors and once without each.
func hideCompetitors(o Options, r *Result) error {
	text, err := os.ReadFile(filepath.Join(o.Answers, "brands.json"))
	if err != nil {
		return err
	}
	var file struct{ Brands []trackedBrand }
	if err := json.Unmarshal(text, &file); err != nil {
		return fmt.Errorf("brands.json: %w", err)
	}
	answers, err := realAnswers(o.Answers)
	if err != nil {
		return err
	}
	for _, b := range file.Brands {
		all := b.find(answers, -1)
		r.Lines = append(r.Lines, fmt.Sprintf("%s %s", b.Name, strings.Join(keysOf(all), ", ")))
		for _, theme := range all.Themes {
			r.Lines = append(r.Lines, fmt.Sprintf("%s criticism: %s, %d answers", b.Name, theme.Words, theme.Answers))
		}
		for i, c := range b.Competitors {
			r.Ceilings["hidden"]++
			if slices.ContainsFunc(keysOf(b.find(answers, i)), isNameOf(c)) {
				r.Figures["hidden_found"]++
			} else {
				o.Progress("  %s did not come back to %s", c.Name, b.Name)
			}
		}
	}
	r.Ratios["hidden"] = r.Figures["hidden_found"] / r.Ceilings["hidden"]
	return nil
}

// isNameOf reports whether a name is a competitor's: one begins with the other.
func isNameOf(c event.Entity) func(key string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(append([]string{c.Name}, c.Aliases...), func(n string) bool {
			n = extract.Fold(n) + " "
			return strings.HasPrefix(n, key+" ") || strings.HasPrefix(key+" ", n)
		})
	}
}

func keysOf(r name.Result) (keys []string) {
	for _, n := range r.Names[:min(len(r.Names), advising.first)] {
		keys = append(keys, n.Key)
	}
	return keys
}

// find finds the names in answers as if the competitor hidden were not tracked.
func (b trackedBrand) find(answers []*event.Answer, hidden int) name.Result {
	competitors := slices.Clone(b.Competitors)
	if hidden >= 0 {
		competitors = slices.Delete(competitors, hidden, hidden+1)
	}
	texts := name.New(b.Entity, competitors)
	for i, a := range answers {
		a.Brand, a.Competitors = event.Brand{Entity: b.Entity}, competitors
		reading := extract.Read(a)
		isNamed := reading.Brand.Mentions > 0
		texts.Add(name.Answer{
			ID: uuid.NewV5(uuid.Nil, fmt.Sprint(i)), PromptID: uuid.NewV5(uuid.Nil, a.Prompt.Text), Prompt: a.Prompt.Text,
			Platform: a.Platform, Language: a.Language, Text: a.Text, Brand: isNamed,
			Tracked: isNamed || slices.ContainsFunc(reading.Competitors, func(c extract.EntityReading) bool { return c.Mentions > 0 }),
		})
	}
	return texts.Result()
}

// realAnswers reads the answers of a folder in the import format.
func realAnswers(dir string) (answers []*event.Answer, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	for _, file := range files {
		text, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(text)
		lines.Buffer(nil, event.MaxRecordBytes)
		for lines.Scan() {
			var row struct{ Platform, Prompt, Text, Language string }
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %w", file, err), text.Close())
			}
			if !strings.HasSuffix(row.Platform, "-shopping") {
				answers = append(answers, &event.Answer{
					Platform: row.Platform, Prompt: event.Prompt{Text: row.Prompt}, Text: row.Text, Language: row.Language,
				})
			}
		}
		if err := errors.Join(lines.Err(), text.Close()); err != nil {
			return nil, err
		}
	}
	return answers, err
}
