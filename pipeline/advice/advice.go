// Package advice computes what a brand might do next from its kept answers: rules that noise does not pass, with the
// counts that they rest on.
package advice

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// RulesVersion rises with every change of a rule, so that all brands are computed again.
const RulesVersion = 1

// windowDays is the length of the window, which ends with yesterday.
const windowDays = 90

// The kinds that are computed.
const (
	KindGap        = "gap"        // a prompt whose answers name a rival and not the brand
	KindSource     = "source"     // a domain that such answers cite
	KindCompetitor = "competitor" // a name that nobody tracks
	KindAlias      = "alias"      // a name that the home page gives the brand
	KindPrompt     = "prompt"     // a search of platforms that no prompt covers
	KindPage       = "page"       // a page of the brand that is crawled and never cited, or cited and never visited
	KindTheme      = "theme"      // what answers say against the brand
)

// maxSuggestions is the most of a kind that are kept.
const maxSuggestions = 50

// Suggestion is a finding of a rule.
type Suggestion struct {
	Kind     string  `json:"kind"`
	Key      string  `json:"key"`      // identifies it within brand and kind, ≤ 512 bytes
	Text     string  `json:"text"`     // ≤ 2,000 bytes
	Reason   string  `json:"reason"`   // ≤ 8,192 bytes
	Score    float64 `json:"score"`    // one decimal; ranks it within its kind
	Evidence any     `json:"evidence"` // JSON object with the counts, without "v" and "window", ≤ 64 KiB
}

// Found is what a rule found of one kind.
type Found struct {
	Kind        string
	Suggestions []Suggestion // by score, then key, at most maxSuggestions
	Of          int          // suggestions before that cut
	Tried       int          // prompts, domains, names … that the rule judged
	Expected    float64      // suggestions by chance; 0: unknown
	Reasons     []Reason     // why there are none, or why the list is not complete
}

// Total is the size of a Found.
type Total struct {
	Kind     string  `json:"kind"`
	Of       int     `json:"of"`
	Shown    int     `json:"shown"`
	Tried    int     `json:"tried"`
	Expected float64 `json:"expected"`
}

// Reason is why a rule said nothing.
type Reason struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	Have   int    `json:"have"`
	Need   int    `json:"need"`
}

// Window is the range of UTC days, both included, whose answers are read.
type Window struct {
	From string `json:"date_from"`
	To   string `json:"date_to"`
}

func windowTo(last time.Time) Window {
	return Window{last.AddDate(0, 0, 1-windowDays).Format(time.DateOnly), last.Format(time.DateOnly)}
}

// Brand is a brand with its live competitors and its prompts, active or not, oldest first.
type Brand struct {
	postgres.Snapshot

	Prompts []postgres.TrackedPrompt
}

// foldedNames returns the names and aliases of a brand and its competitors as texts are searched for them.
func (b *Brand) foldedNames() []string {
	names := append([]string{b.Name}, b.Aliases...)
	for _, c := range b.Competitors {
		names = append(append(names, c.Name), c.Aliases...)
	}
	for i, name := range names {
		names[i] = extract.Fold(name)
	}
	return names
}

// A rule reads the answers of a window once, and finds the suggestions of some kinds.
type rule func(context.Context, *clickhouse.Conn, Brand, Window) ([]Found, error)

// rules are in the order in which their kinds are listed.
var rules = []rule{
	comparisons,
	searches,
	pages,
	texts,
}

// find applies all rules to a brand.
func find(ctx context.Context, warehouse *clickhouse.Conn, brand Brand, window Window) (all []Found, err error) {
	for _, r := range rules {
		findings, err := r(ctx, warehouse, brand, window)
		if err != nil {
			return nil, err
		}
		all = append(all, findings...)
	}
	return all, nil
}

// rank sorts suggestions of a kind by score, then key, and cuts them.
func rank(all []Suggestion) []Suggestion {
	slices.SortFunc(all, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(len(all), maxSuggestions)]
}
