package simulator

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// The shares of the questions that fail during an outage, and on any day.
const (
	outageFailures = 0.7
	anyFailures    = 0.008
)

// failure returns the error of a question that fails at its first attempt, nil for all others.
func (s *Simulator) failure(q platform.Question) error {
	if q.Attempt > 1 {
		return nil
	}
	sample, due := strconv.FormatInt(q.Sample, 10), q.Due.UTC().String()
	c := s.Chance("failure", s.Slug(), q.Text, q.Model, q.Region, sample, due)
	drawn := c.Float64()
	for change := range s.changes(q) {
		if change.Outage && drawn < outageFailures {
			return &platform.Error{Class: platform.Unavailable, Cause: errors.New("simulated outage")}
		}
	}
	if drawn < 1-anyFailures {
		return nil
	}
	classes := []platform.Class{platform.Timeout, platform.Unavailable, platform.RateLimited}
	return &platform.Error{Class: pick(c, classes), Cause: errors.New("simulated failure")}
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
