package simulator

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
)

// A Change alters the answers to questions that are due from a day on.
type Change struct {
	From, Until time.Time // Until zero: no end
	Model       string    // "": every model
	Prompt      string    // a part of the question's text; "": every question

	Entity  string  // whose probability of being named is raised by By
	By      float64 // -1 to 1
	Outage  bool    // most questions fail
	Renewed bool    // the next version of the model answers
}

// changes yields the changes that apply to a question.
func (s *Simulator) changes(q platform.Question) iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for _, c := range s.config.Changes {
			current := !q.Due.Before(c.From) && (c.Until.IsZero() || q.Due.Before(c.Until))
			concerned := (c.Model == "" || c.Model == q.Model) && strings.Contains(q.Text, c.Prompt)
			if current && concerned && !yield(c) {
				return
			}
		}
	}
}

// served names the version of the model that answers a question.
func (s *Simulator) served(q platform.Question) string {
	version := 1
	for c := range s.changes(q) {
		if c.Renewed {
			version++
		}
	}
	return fmt.Sprintf("%s-%d", q.Model, version)
}
