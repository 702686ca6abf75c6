package simulator

import (
	"cmp"
	"errors"
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
	for change := range s.changes(q) {
		if change.Outage {
			ofDay = 0
		}
	}
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

// Visibility returns the probability that an answer to q names the entity: a share that differs by entity, model and
// prompt, and what changes add to it. A prompt that names the entity nearly always gets it named.
func (s *Simulator) Visibility(e event.Entity, q platform.Question) float64 {
	if strings.Contains(strings.ToLower(q.Text), strings.ToLower(e.Name)) {
		return 0.98
	}
	share := 0.25 + 0.4*s.Chance("visibility", e.Name).Float64()
	if e.Name == s.config.Cast.Brand.Name {
		share = 0.5 // the demo should show the brand
	}
	share += 0.2*s.Chance("skew", e.Name, q.Model).Float64() - 0.1
	share += 0.3*s.Chance("affinity", e.Name, q.Text).Float64() - 0.15
	for c := range s.changes(q) {
		if c.Entity == e.Name {
			share += c.By
		}
	}
	return min(max(share, 0.03), 0.97)
}

// named draws the entities that the answer names, in their order.
func (s *Simulator) named(c *rand.Rand, q platform.Question) []event.Entity {
	type candidate struct {
		entity event.Entity
		rank   float64
	}
	var candidates []candidate
	for _, e := range s.entities {
		p := s.Visibility(e, q)
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
