// Package answer makes the record of a finished run: what was asked of which platform, for which brand, and what came
// of it. Import and tracking make their records here, so that an answer's id and snapshot are the same from both.
package answer

import (
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Run is one prompt asked of one model of one platform for one region, once. A run ends once: Answered or GaveUp makes
// its record.
type Run struct {
	Snapshot Snapshot
	Prompt   event.Prompt
	Platform string // slug
	Model    string // requested slug; "" the platform's own choice
	Region   string
	Language string
	Sample   int64     // 1-based
	Due      time.Time // of an import: when the answer was given
	JobID    *uuid.UUID

	Simulated bool // made by the simulator under another platform's name; under its own it is marked anyway

	EndedAt  time.Time // when it was answered or given up
	Latency  time.Duration
	Attempts int
}

// ID is the id of the run's record. It is made of the run's identity (brand, prompt text, platform, model, region,
// sample, due time), so a run that is appended twice has one id.
func (r Run) ID() uuid.UUID {
	return event.RunID(event.Identity{
		BrandID: r.Snapshot.Brand.ID, PromptText: r.Prompt.Text, Platform: r.Platform,
		Model: r.Model, Region: r.Region, Sample: r.Sample, Due: r.Due,
	})
}

// Question is what the platform is asked.
func (r Run) Question() platform.Question {
	return platform.Question{Text: r.Prompt.Text, Region: r.Region, Language: r.Language, Model: r.Model, Sample: r.Sample, Due: r.Due, Attempt: r.Attempts}
}

// Answered makes the record of a run that the platform answered.
func (r Run) Answered(reply platform.Reply) event.Answer {
	a := r.ended()
	a.ServedModel, a.Surface, a.Finish, a.Text = reply.ServedModel, reply.Surface, reply.Finish, reply.Text
	for _, c := range reply.Citations {
		a.Citations = append(a.Citations, c.Citation)
	}
	a.SearchQueries, a.Products, a.Usage = reply.SearchQueries, reply.Products, reply.Usage
	return a
}

// GaveUp makes the record of a run that ended without an answer, so that an outage is counted as one.
func (r Run) GaveUp(why *platform.Error) event.Answer {
	a := r.ended()
	a.GivenUp = &event.GivenUp{Class: string(why.Class)}
	if why.Cause != nil {
		a.GivenUp.Error = why.Cause.Error()
	}
	return a
}

func (r Run) ended() event.Answer {
	return event.Answer{
		V: event.Version, ID: r.ID(), OrganizationID: r.Snapshot.OrganizationID,
		Brand: r.Snapshot.Brand, Competitors: r.Snapshot.Competitors, Prompt: r.Prompt,
		Platform: r.Platform, Model: r.Model, Region: r.Region, Language: r.Language, Sample: r.Sample,
		JobID: r.JobID, Simulated: r.Simulated || platform.Simulated(r.Platform),
		AnsweredAt: event.At(r.EndedAt), LatencyMS: r.Latency.Milliseconds(), Attempts: r.Attempts,
	}
}
