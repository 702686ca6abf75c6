package simulator

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Plan is a history of runs: every prompt, once a day, of every model.
type Plan struct {
	Snapshot answer.Snapshot
	Prompts  []Asked
	Models   []string // requested slugs, of Models

	// Platforms are those that the demo shows the models as, by model; the simulator itself where there is none.
	Platforms map[string]string

	From  time.Time // the first day, UTC
	Until time.Time // runs that end later are left out
}

// Asked is a tracked prompt and how it is asked.
type Asked struct {
	Prompt   event.Prompt
	Region   string
	Language string
	Samples  int // of each day and model, 1 or more
}

// Runs is an upper bound of how many records History yields.
func (p Plan) Runs() int {
	if !p.From.Before(p.Until) {
		return 0
	}
	days := int(p.Until.Sub(day(p.From))/(24*time.Hour)) + 1
	runs := 0
	for _, asked := range p.Prompts {
		runs += asked.Samples
	}
	return days * runs * len(p.Models)
}

// History yields the records of the plan, day by day, given-up runs included.
// A run's record is the same whatever From and Until are, so a longer history repeats the shorter one.
func (s *Simulator) History(plan Plan) iter.Seq[event.Answer] {
	return func(yield func(event.Answer) bool) {
		for date := day(plan.From); date.Before(plan.Until); date = date.AddDate(0, 0, 1) {
			for _, asked := range plan.Prompts {
				for _, model := range plan.Models {
					for sample := range asked.Samples {
						a := s.run(plan, asked, model, sample+1, date)
						if !a.AnsweredAt.After(plan.Until) && !yield(a) {
							return
						}
					}
				}
			}
		}
	}
}

// run asks once, in the morning of the day, at a minute that is the prompt's own.
func (s *Simulator) run(plan Plan, asked Asked, model string, sample int, date time.Time) event.Answer {
	c := chance(s.config.Seed, "run", s.slug, asked.Prompt.Text, model, date.Format(time.DateOnly))
	minute := chance(s.config.Seed, "minute", asked.Prompt.Text).IntN(240)
	run := answer.Run{
		Snapshot: plan.Snapshot, Prompt: asked.Prompt, Platform: cmp.Or(plan.Platforms[model], s.slug), Model: model, Simulated: true, Region: asked.Region, Language: asked.Language,
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
