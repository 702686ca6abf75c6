package intake

import (
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/gofrs/uuid/v5"
)

// Snapshot is for whom an answer is judged, as it was when the answer came:
// the names and the revision are read together.
type Snapshot struct {
	OrganizationID uuid.UUID
	Brand          event.Brand
	Competitors    []event.Entity
}

// Run is the circumstance of one run: what was asked where, and how it went.
type Run struct {
	Platform   string
	Question   platform.Question
	JobID      *uuid.UUID
	AnsweredAt time.Time // for a run that was given up: when it was given up
	Latency    time.Duration
	Attempts   int
}

// Answered makes the record of a run that a platform answered.
func Answered(s Snapshot, prompt event.Prompt, run Run, reply platform.Reply) event.Answer {
	a := record(s, prompt, run)
	a.ServedModel = reply.ServedModel
	a.Surface = reply.Surface
	a.Finish = reply.Finish
	a.Text = reply.Text
	for _, c := range reply.Citations {
		a.Citations = append(a.Citations, c.Citation)
	}
	a.SearchQueries = reply.SearchQueries
	a.Products = reply.Products
	a.Usage = reply.Usage
	return a
}

// GivenUp makes the record of a run that ended without an answer, so that an
// outage is seen as one.
func GivenUp(s Snapshot, prompt event.Prompt, run Run, why *platform.Error) event.Answer {
	a := record(s, prompt, run)
	a.GivenUp = &event.GivenUp{Class: string(why.Class)}
	if why.Cause != nil {
		a.GivenUp.Error = why.Cause.Error()
	}
	return a
}

func record(s Snapshot, prompt event.Prompt, run Run) event.Answer {
	return event.Answer{
		V:              event.Version,
		ID:             event.RunID(identity(s.Brand.ID, prompt.Text, run)),
		OrganizationID: s.OrganizationID,
		Brand:          s.Brand,
		Competitors:    s.Competitors,
		Prompt:         prompt,
		Platform:       run.Platform,
		Model:          run.Question.Model,
		Region:         run.Question.Region,
		Language:       run.Question.Language,
		Sample:         run.Question.Sample,
		JobID:          run.JobID,
		Simulated:      platform.Simulated(run.Platform),
		AnsweredAt:     event.At(run.AnsweredAt),
		LatencyMS:      run.Latency.Milliseconds(),
		Attempts:       run.Attempts,
	}
}

func identity(brandID uuid.UUID, promptText string, run Run) event.Identity {
	q := run.Question
	return event.Identity{
		BrandID: brandID, PromptText: promptText, Platform: run.Platform,
		Model: q.Model, Region: q.Region, Sample: q.Sample, Due: q.Due,
	}
}

// run is what an import knows of the run that it captures: when it was answered
// is when it was due.
func (c Capture) run() Run {
	return Run{
		Platform: c.Platform,
		Question: platform.Question{
			Text: c.Prompt, Region: c.Region, Language: c.Language, Model: c.Model, Sample: c.Sample, Due: c.AnsweredAt,
		},
		AnsweredAt: c.AnsweredAt,
	}
}
