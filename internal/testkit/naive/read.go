// Package naive computes the figures of /api/v1 a second time, from the records themselves and in the plainest way,
// so that tests compare the pipeline and its SQL with it. It follows the published definitions sentence by sentence,
// shares no code with pipeline/extract, keeps everything in memory and counts in exact fractions. Slow is fine; only
// tests import it.
//
// One thing it cannot compute: sentiment is a named method and no definition, so callers pass it.
package naive

import (
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/gofrs/uuid/v5"
)

// Reading is an answer as it is to be counted.
type Reading struct {
	Answer      event.Answer
	Branded     bool
	Brand       Named
	Competitors []Named // in the record's order
}

// Named is what an answer says of one entity. Position 0: it is not named.
type Named struct {
	ID         uuid.UUID
	Name       string
	Mentions   int
	Citations  int
	Position   int
	Visibility int
	Sentiment  string // that was passed to Read; of a competitor the caller sets it
}

// Read reads one answer. sentiment is what the method in use says of the sentences that name the brand: positive,
// neutral, negative or unknown.
func Read(a event.Answer, sentiment string) Reading {
	text := passageOf(prose(a.Text))
	hosts := cited(a.Citations)
	entities := append([]event.Entity{a.Brand.Entity}, a.Competitors...)
	named, firsts := make([]Named, len(entities)), make([]int, len(entities))
	for i, e := range entities {
		named[i] = Named{ID: e.ID, Name: e.Name, Citations: under(hosts, e.Domains)}
		named[i].Mentions, firsts[i] = mentions(text, e, without(entities, i))
	}
	for i := range named {
		if named[i].Mentions == 0 {
			continue
		}
		named[i].Position = 1
		for j := range named {
			if named[j].Mentions > 0 && firsts[j] < firsts[i] {
				named[i].Position++
			}
		}
	}
	for i := range named {
		tone := 0
		switch {
		case i == 0 && sentiment == "positive":
			tone = 15
		case i == 0 && sentiment == "neutral" && named[i].Mentions > 0, i > 0 && named[i].Mentions > 0:
			tone = 7
		}
		named[i].Visibility = visibility(named[i], len(hosts)) + tone
	}
	named[0].Sentiment = sentiment
	return Reading{Answer: a, Branded: branded(a), Brand: named[0], Competitors: named[1:]}
}

func without(entities []event.Entity, i int) []event.Entity {
	return slices.Delete(slices.Clone(entities), i, i+1)
}

func visibility(n Named, all int) int {
	share := 0
	if all > 0 {
		share = (2*15*n.Citations + all) / (2 * all) // round half up of 15·own/all
	}
	return min(10*n.Mentions, 40) + min(15*n.Citations, 30) + share
}

func branded(a event.Answer) bool {
	if a.Prompt.IsBranded != nil {
		return *a.Prompt.IsBranded
	}
	count, _ := mentions(passageOf(seen(a.Prompt.Text)), a.Brand.Entity, a.Competitors)
	return count > 0
}

func (r Reading) shopping() bool { return strings.HasSuffix(r.Answer.Platform, "-shopping") }

func (r Reading) givenUp() bool { return r.Answer.GivenUp != nil }

// notShown reports that the surface was seen and had no answer: it is in no figure but its own count.
func (r Reading) notShown() bool { return r.Answer.Finish == "not_shown" }
