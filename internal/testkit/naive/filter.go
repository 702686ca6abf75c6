package naive

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Filter is what the common parameters of /api/v1 say. Its zero value but for the days lets everything through.
type Filter struct {
	From, To  string   // UTC days "2006-01-02", inclusive
	Platforms []string // in any case, as models and the region; empty means all
	Models    []string // requested; empty means all
	Region    *string
	Topic     *uuid.UUID
	Branded   *bool
	Prompt    *uuid.UUID // of trends, comparisons and citations

	Hiding []string // platforms that had no answer at least once in the window; nil: those of the readings
}

// WithHiding finds the platforms that had no answer at least once in the window, whatever else is filtered.
func (f Filter) WithHiding(readings []Reading) Filter {
	f.Hiding = []string{}
	for _, r := range (Filter{From: f.From, To: f.To}).runs(readings) {
		if r.notShown() {
			f.Hiding = append(f.Hiding, strings.ToLower(r.Answer.Platform))
		}
	}
	return f
}

// everyPrompt is the filter of the runs by which platforms are judged.
func (f Filter) everyPrompt() Filter {
	f.Prompt = nil
	return f
}

// interval is that of the mean of the points: of one prompt's answers Wilson's, else clustered by prompt.
func (f Filter) interval(t counts, points map[uuid.UUID]*big.Rat) *Interval {
	if f.Prompt == nil {
		return t.clustered(points, 0)
	}
	return t.ofPrompt(points[*f.Prompt])
}

// runs are the window's runs after filters, given-up ones too. Shopping answers stay out of every metric.
func (f Filter) runs(readings []Reading) []Reading {
	var kept []Reading
	for _, r := range readings {
		if f.passes(r) && !r.shopping() {
			kept = append(kept, r)
		}
	}
	return kept
}

func (f Filter) passes(r Reading) bool {
	a, day := r.Answer, r.day()
	switch {
	case day < f.From, day > f.To:
	case !among(f.Platforms, a.Platform), !among(f.Models, a.Model):
	case f.Region != nil && !strings.EqualFold(a.Region, *f.Region):
	case f.Topic != nil && (a.Prompt.TopicID == nil || *a.Prompt.TopicID != *f.Topic):
	case f.Branded != nil && r.Branded != *f.Branded:
	case f.Prompt != nil && a.Prompt.ID != *f.Prompt:
	default:
		return true
	}
	return false
}

// among says whether a code is on a list, or the list is empty.
func among(list []string, code string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(one string) bool { return strings.EqualFold(one, code) })
}

// answers are the runs that were answered: neither given up nor not shown.
func answers(runs []Reading) []Reading {
	return slices.DeleteFunc(slices.Clone(runs), func(r Reading) bool { return r.givenUp() || r.notShown() })
}

// counted is how many of the runs are so.
func counted(runs []Reading, is func(Reading) bool) (n int) {
	for _, r := range runs {
		if is(r) {
			n++
		}
	}
	return n
}

func (r Reading) day() string { return r.Answer.AnsweredAt.UTC().Format(time.DateOnly) }
