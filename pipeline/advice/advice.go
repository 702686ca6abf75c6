// Package advice computes what a brand might do next from its kept answers: rules that noise does not pass, with the
// counts that they rest on.
package advice

import (
	"cmp"
	"slices"

	"github.com/answerscope/answerscope/sql/postgres"
)

// RulesVersion rises with every change of a rule, so that all brands are computed again.
const RulesVersion = 1

// The kinds of what is computed.
const (
	KindGap        = "gap"        // a prompt whose answers name a rival and not the brand
	KindSource     = "source"     // a domain that such answers cite
	KindCompetitor = "competitor" // a name that nobody tracks
	KindAlias      = "alias"      // such a name that may be the brand's
	KindPrompt     = "prompt"     // a search of platforms that no prompt covers
	KindPage       = "page"       // a page of the brand that is crawled and never cited, or cited and never visited
	KindTheme      = "theme"      // what answers say against the brand
)

// maxSuggestions is the most of a kind that are kept.
const maxSuggestions = 50

// Suggestion is a finding of a rule.
type Suggestion struct {
	Kind     string
	Key      string  // identifies it within brand and kind, ≤ 512 bytes
	Text     string  // ≤ 2,000 bytes
	Reason   string  // ≤ 8,192 bytes
	Score    float64 // one decimal; ranks it within its kind
	Evidence any     // JSON object with the counts, without "v" and "window", ≤ 64 KiB
}

// Found is what one rule, or several that share a reading, found.
type Found struct {
	Suggestions []Suggestion // by score, then key, at most maxSuggestions
	Of          int          // suggestions before that cut
	Tried       int          // prompts, domains, names … that the rule judged
	Expected    float64      // suggestions by chance; 0: unknown
	Reasons     []Reason     // why there are none, or why the list is not complete
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

// Brand is a brand with its live competitors and its prompts, active or not, oldest first.
type Brand struct {
	postgres.Snapshot

	Prompts []postgres.TrackedPrompt
}

// rank sorts suggestions of a kind by score, then key, and cuts them.
func rank(all []Suggestion) []Suggestion {
	slices.SortFunc(all, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(len(all), maxSuggestions)]
}
