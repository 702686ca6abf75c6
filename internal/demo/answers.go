package demo

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/simulator"
)

// History is a period in which every prompt was asked once a day of every model.
type History struct {
	Snapshot answer.Snapshot
	Prompts  []TrackedPrompt
	Models   []string // requested slugs, of simulator.Models

	// Platforms names the platform of the answers by model; the default is the simulator's slug.
	Platforms map[string]string

	From  time.Time // the first day, UTC
	Until time.Time // runs that end later are left out
}

// TrackedPrompt is a prompt and how it is asked.
type TrackedPrompt struct {
	Prompt   event.Prompt
	Region   string
	Language string
	Samples  int // a day and model, 1 or more
}

// Runs returns an upper bound of the number of records that Answers yields.
func (h History) Runs() int {
	if !h.From.Before(h.Until) {
		return 0
	}
	days := int(h.Until.Sub(day(h.From))/(24*time.Hour)) + 1
	runs := 0
	for _, prompt := range h.Prompts {
		runs += prompt.Samples
	}
	return days * runs * len(h.Models)
}

// Answers yields the records of the history, day by day, given-up runs included. A run's record does not depend on From
// and Until, so a longer history repeats the shorter one.
func (h History) Answers(s *simulator.Simulator) iter.Seq[event.Answer] {
	return func(yield func(event.Answer) bool) {
		for date := day(h.From); date.Before(h.Until); date = date.AddDate(0, 0, 1) {
			for _, prompt := range h.Prompts {
				for _, model := range h.Models {
					for sample := range prompt.Samples {
						a := h.run(s, prompt, model, sample+1, date)
						if !a.AnsweredAt.After(h.Until) && !yield(a) {
							return
						}
					}
				}
			}
		}
	}
}

// run asks once, in the morning of the day, at a minute that is the prompt's own.
func (h History) run(
	s *simulator.Simulator, prompt TrackedPrompt, model string, sample int, date time.Time,
) event.Answer {
	c := s.Chance("run", s.Slug(), prompt.Prompt.Text, model, date.Format(time.DateOnly))
	minute := s.Chance("minute", prompt.Prompt.Text).IntN(240)
	run := answer.Run{
		Snapshot: h.Snapshot, Prompt: prompt.Prompt, Platform: cmp.Or(h.Platforms[model], s.Slug()), Model: model,
		Simulated: true, Region: prompt.Region, Language: prompt.Language,
		Sample: int64(sample), Due: date.Add(5*time.Hour + time.Duration(minute)*time.Minute),
		Attempts: 1, Latency: time.Duration(1500+c.IntN(9000)) * time.Millisecond,
	}
	reply, err := s.Ask(context.Background(), run.Question())
	if failure, ok := errors.AsType[*platform.Error](err); ok {
		run.Attempts = 5
		run.EndedAt = run.Due.Add(time.Duration(run.Attempts) * 3 * time.Minute)
		return run.GaveUp(failure)
	}
	run.EndedAt = run.Due.Add(run.Latency)
	return run.Answered(reply)
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
