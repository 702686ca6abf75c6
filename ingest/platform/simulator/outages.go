package simulator

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// The shares of a model's days with an outage or a low rate limit, of the questions that then fail, and of the
// questions that fail on any day.
const (
	outageDays       = 0.03
	outageFailures   = 0.7
	lowLimitDays     = 0.04
	lowLimitFailures = 0.25
	anyFailures      = 0.008
)

// failure returns the error of a question that fails at its first attempt, nil for all others.
func (s *Simulator) failure(q platform.Question) error {
	if err := s.firstFailure(q); err != nil && q.Attempt <= 1 {
		return err
	}
	return nil
}

func (s *Simulator) firstFailure(q platform.Question) *platform.Error {
	date := q.Due.UTC().Format(time.DateOnly)
	ofDay := s.Chance("weather", s.slug, q.Model, date).Float64() // another label would change every history
	sample, due := strconv.FormatInt(q.Sample, 10), q.Due.UTC().String()
	c := s.Chance("failure", s.slug, q.Text, q.Model, q.Region, sample, due)
	ofRun := c.Float64()
	switch {
	case ofDay < outageDays && ofRun < outageFailures:
		return &platform.Error{Class: platform.Unavailable, Cause: errors.New("simulated outage")}
	case ofDay >= outageDays && ofDay < outageDays+lowLimitDays && ofRun < lowLimitFailures:
		wait := time.Duration(15+c.IntN(45)) * time.Second
		return &platform.Error{Class: platform.RateLimited, RetryAfter: wait, Cause: errors.New("simulated rate limit")}
	case ofRun > 1-anyFailures:
		classes := []platform.Class{platform.Timeout, platform.Timeout, platform.Unavailable, platform.RateLimited}
		class := pick(c, classes)
		return &platform.Error{Class: class, Cause: errors.New("simulated failure")}
	}
	return nil
}

// renewal is how long one version of a model serves.
const renewal = 60 * 24 * time.Hour

// served names the version of model that answers at due, by its first day.
func (s *Simulator) served(model string, due time.Time) string {
	first := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, s.Chance("served", model).IntN(60))
	n := int64(math.Floor(float64(due.Sub(first)) / float64(renewal)))
	return model + "-" + first.Add(time.Duration(n)*renewal).Format(time.DateOnly)
}

// Visibility returns the probability that an answer of model names the entity on that day: a share that differs by
// entity and model and swings over seven to eighteen weeks.
func (s *Simulator) Visibility(e event.Entity, model string, due time.Time) float64 {
	c := s.Chance("visibility", e.Name)
	share, swing, weeks, phase := 0.25+0.4*c.Float64(), 0.08+0.17*c.Float64(), 7+11*c.Float64(), c.Float64()
	if e.Name == s.config.Cast.Brand.Name {
		share = 0.45 // the demo should show the brand
	}
	skew := 0.2*s.Chance("skew", e.Name, model).Float64() - 0.1
	day := float64(due.Unix()) / (24 * 60 * 60)
	return min(max(share+skew+swing*math.Sin(2*math.Pi*(day/(7*weeks)+phase)), 0.03), 0.97)
}

// named draws the entities that the answer names, in their order. Those that the prompt names are nearly always among
// them.
func (s *Simulator) named(c *rand.Rand, q platform.Question) []event.Entity {
	type candidate struct {
		entity event.Entity
		rank   float64
	}
	var candidates []candidate
	for _, e := range s.entities {
		p := s.Visibility(e, q.Model, q.Due)
		p += 0.3*s.Chance("affinity", e.Name, q.Text).Float64() - 0.15
		if strings.Contains(strings.ToLower(q.Text), strings.ToLower(e.Name)) {
			p = 0.98
		}
		if isNamed, noise := c.Float64() < p, c.Float64(); isNamed {
			candidates = append(candidates, candidate{e, p + 0.5*noise})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.rank, a.rank) })
	entities := make([]event.Entity, len(candidates))
	for i, c := range candidates {
		entities[i] = c.entity
	}
	return entities
}
