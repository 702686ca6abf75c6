// Package answer makes the record of a finished run: its question, platform and brand, and the answer or the error.
// Import and tracking make their records here, so that an answer's id and snapshot are the same from both.
package answer

import (
	"context"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/postgres"
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

// ID returns the id of the run's record. It is made of the run's identity (brand, prompt text, platform, model, region,
// sample, due time), so a run that is appended twice has one id.
func (r Run) ID() uuid.UUID {
	return event.RunID(event.Identity{
		BrandID: r.Snapshot.Brand.ID, PromptText: r.Prompt.Text, Platform: r.Platform,
		Model: r.Model, Region: r.Region, Sample: r.Sample, Due: r.Due,
	})
}

// Question returns the question to the platform.
func (r Run) Question() platform.Question {
	return platform.Question{
		Text: r.Prompt.Text, Region: r.Region, Language: r.Language, Model: r.Model, Sample: r.Sample, Due: r.Due,
		Attempt: r.Attempts,
	}
}

// Answered makes the record of a run that the platform answered.
func (r Run) Answered(reply platform.Reply) event.Answer {
	a := r.ended()
	a.ServedModel, a.Provider, a.Surface = reply.ServedModel, reply.Provider, reply.Surface
	a.Finish, a.Text = reply.Finish, reply.Text
	for _, c := range reply.Citations {
		a.Citations = append(a.Citations, c.Citation)
	}
	a.SearchQueries, a.Products, a.Usage = reply.SearchQueries, reply.Products, reply.Usage
	return a
}

// GaveUp makes the record of a run that ended without an answer, so that an outage is counted as one.
func (r Run) GaveUp(reason *platform.Error) event.Answer {
	a := r.ended()
	a.GivenUp = &event.GivenUp{Class: string(reason.Class)}
	if reason.Cause != nil {
		a.GivenUp.Error = reason.Cause.Error()
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

// Record checks an answer and encodes it for the log. now is the clock: an answer lies at most a day after it.
func Record(a *event.Answer, now time.Time) (producer.Record, error) {
	if err := a.Check(now); err != nil {
		return producer.Record{}, err
	}
	value, err := event.EncodeAnswer(nil, a)
	if err != nil {
		return producer.Record{}, err
	}
	return producer.Record{Key: event.BrandKey(a.Brand.ID), Value: value}, nil
}

// Lookup looks up which ids of a brand are in a table of the warehouse.
type Lookup func(ctx context.Context, organization, brand uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error)

// Snapshot is a brand with its competitors at the time of a run. Names and revision are read together.
type Snapshot struct {
	OrganizationID uuid.UUID
	Brand          event.Brand
	Competitors    []event.Entity
}

// ReadSnapshot reads the current snapshot of a brand; postgres.ErrNotFound if there is no such brand.
func ReadSnapshot(ctx context.Context, db *postgres.DB, brandID uuid.UUID) (Snapshot, error) {
	s, err := db.Snapshot(ctx, brandID)
	if err != nil {
		return Snapshot{}, err
	}
	brand := event.Entity{ID: s.BrandID, Name: s.Name, Aliases: s.Aliases, Domains: s.Domains}
	snapshot := Snapshot{OrganizationID: s.OrganizationID, Brand: event.Brand{Entity: brand, Revision: s.Revision}}
	for _, c := range s.Competitors {
		competitor := event.Entity{ID: c.ID, Name: c.Name, Aliases: c.Aliases, Domains: c.Domains}
		snapshot.Competitors = append(snapshot.Competitors, competitor)
	}
	return snapshot, nil
}

// Prompt returns the fields of a stored prompt that a record has.
func Prompt(p postgres.Prompt) event.Prompt {
	return event.Prompt{ID: p.ID, Text: p.Text, SetID: p.SetID, TopicID: p.TopicID, IsBranded: p.IsBranded}
}
