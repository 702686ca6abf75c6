package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
)

// codec measures records a second of one core, decoded and encoded as they come
// from and go to the log: visits of about 400 bytes, answers of about 5 KB. The
// ceilings are copying the same bytes, and encoding/json's look at whether they
// are JSON at all.
func codec(ctx context.Context, _ Options) (Result, error) {
	r := Result{Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	const n = 512 // records in turn: more than the branch predictor learns by heart
	visits, answers := make([]event.Visit, n), make([]event.Answer, n)
	var visitRecords, answerRecords [][]byte
	for i := range n {
		visits[i], answers[i] = someVisit(i), someAnswer(i)
		v, errV := event.EncodeVisit(nil, &visits[i])
		a, errA := event.EncodeAnswer(nil, &answers[i])
		if err := errors.Join(errV, errA); err != nil {
			return r, err
		}
		visitRecords, answerRecords = append(visitRecords, v), append(answerRecords, a)
	}
	r.Figures["visit_bytes"] = float64(len(bytes.Join(visitRecords, nil)) / n)
	r.Figures["answer_bytes"] = float64(len(bytes.Join(answerRecords, nil)) / n)

	var visit event.Visit
	var answer event.Answer
	buffer := make([]byte, 0, 64<<10)
	rates, err := perSecond(ctx, map[string]func(i int) error{
		"visit_decode":  func(i int) error { return event.DecodeVisitInPlace(visitRecords[i%n], &visit) },
		"visit_encode":  func(i int) error { _, err := event.EncodeVisit(buffer, &visits[i%n]); return err },
		"visit_copy":    func(i int) error { copy(buffer[:cap(buffer)], visitRecords[i%n]); return nil },
		"visit_valid":   func(i int) error { return valid(visitRecords[i%n]) },
		"answer_decode": func(i int) error { return event.DecodeAnswer(answerRecords[i%n], &answer) },
		"answer_encode": func(i int) error { _, err := event.EncodeAnswer(buffer, &answers[i%n]); return err },
		"answer_copy":   func(i int) error { copy(buffer[:cap(buffer)], answerRecords[i%n]); return nil },
		"answer_valid":  func(i int) error { return valid(answerRecords[i%n]) },
	})
	if err != nil {
		return r, err
	}
	for _, record := range []string{"visit", "answer"} {
		for _, ceiling := range []string{"copy", "valid"} {
			r.Ceilings[record+"_"+ceiling+"_per_s"] = rates[record+"_"+ceiling]
		}
		for _, way := range []string{"decode", "encode"} {
			r.Figures[record+"_"+way+"_per_s"] = rates[record+"_"+way]
			r.Ratios[record+"_"+way+"_to_valid"] = rates[record+"_"+way] / rates[record+"_valid"]
		}
	}
	return r, nil
}

func valid(record []byte) error {
	if !json.Valid(record) {
		return fmt.Errorf("not JSON: %.40s", record)
	}
	return nil
}

// turn is how much of a core's time an op is called for in one round.
var turn = 100 * time.Millisecond

// perSecond calls each op in turn, several rounds of all of them, and returns the
// best rate of each, per second of one core's time: what else the machine does
// then matters little, and the garbage collector's share is counted.
func perSecond(ctx context.Context, ops map[string]func(i int) error) (map[string]float64, error) {
	const rounds, calls = 8, 64
	best := map[string]float64{}
	for range rounds {
		for name, op := range ops {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			begin, spent := coreTime(), time.Duration(0)
			i := 0
			for ; spent < turn; spent = coreTime() - begin {
				for range calls {
					if err := op(i); err != nil {
						return nil, fmt.Errorf("%s: %w", name, err)
					}
					i++
				}
			}
			best[name] = max(best[name], float64(i)/spent.Seconds())
		}
	}
	return best, nil
}

// coreTime is what this process has used of all cores.
func coreTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // its arguments are constant
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var (
	space = uuid.Must(uuid.FromString("6ba7b811-9dad-11d1-80b4-00c04fd430c8"))
	start = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
)

// named is an id that is the same on every run.
func named(kind string, i int) uuid.UUID { return uuid.NewV5(space, fmt.Sprint(kind, i)) }

// someVisit is the i-th of visits that differ as real ones do.
func someVisit(i int) event.Visit {
	at := start.Add(time.Duration(i) * 173 * time.Millisecond)
	return event.Visit{
		ID:             event.RunID(event.Identity{BrandID: named("brand", i%7), Sample: int64(i), Due: at}),
		OrganizationID: named("organization", i%3), BrandID: named("brand", i%7), At: event.At(at),
		Event: event.VisitView, Platform: []string{"chatgpt", "perplexity", "gemini"}[i%3], PlatformBy: "referrer",
		Host: "www.brand.example", Path: "/shop/" + strings.Repeat("machine-", i%4) + "plus", ReferrerHost: "chatgpt.com",
		Country: []string{"DE", "US", "JP"}[i%3], Language: "de-DE", Screen: "1920x1080",
		Session: fmt.Sprintf("%010x", i*7919), NewSession: i%2 == 0, Visitor: uint64(i) * 0x9e3779b97f4a7c15,
	}
}

// someAnswer is the i-th of answers of 3 to 8 KB: Markdown with links, six
// competitors, two to nine citations.
func someAnswer(i int) event.Answer {
	run := event.Identity{
		BrandID: named("brand", i%7), PromptText: fmt.Sprintf("what is the best espresso machine under $%d?", 100+i), Platform: "openai",
		Model: "gpt-5.1", Region: "us", Sample: 1, Due: start.Add(time.Duration(i) * time.Minute),
	}
	a := event.Answer{
		ID: event.RunID(run), OrganizationID: named("organization", i%3),
		Brand:    event.Brand{Entity: entity("brand", i%7), Revision: 3},
		Prompt:   event.Prompt{ID: named("prompt", i), Text: run.PromptText, SetID: named("set", i%7)},
		Platform: run.Platform, Model: run.Model, ServedModel: "gpt-5.1-2026-02-11", Region: run.Region, Language: "en",
		Surface: event.SurfaceAPI, Sample: run.Sample, AnsweredAt: event.At(run.Due.Add(4 * time.Second)), LatencyMS: 4000,
		Attempts: 1, Finish: event.FinishComplete,
		Text:          strings.Repeat("### ☕ Best for small kitchens\n\n* **[Breville \"Bambino\"]()** – \\$299.95: heats up in 3 seconds\n", 12+i%24),
		SearchQueries: []string{"best espresso machine 2026"},
		Usage:         &event.Usage{InputTokens: 812, OutputTokens: 1490, Searches: 1, CostUSD: "0.021350"},
	}
	for c := range 6 {
		a.Competitors = append(a.Competitors, entity("rival", c))
	}
	for c := range 2 + i%8 {
		a.Citations = append(a.Citations, event.Citation{
			URL:   fmt.Sprintf("https://www.magazine%d.example/reviews/best-espresso-machines?utm_source=openai", c),
			Title: "The best espresso machines for small kitchens, tested", Cited: true,
		})
	}
	return a
}

func entity(kind string, i int) event.Entity {
	name := fmt.Sprintf("%s %d", kind, i)
	return event.Entity{ID: named(kind, i), Name: name, Aliases: []string{"The " + name}, Domains: []string{fmt.Sprintf("%s%d.example", kind, i)}}
}
