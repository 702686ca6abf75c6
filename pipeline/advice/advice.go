// Package advice computes what a brand might do next from its kept answers: rules that noise does not pass, with the
// counts that they rest on.
package advice

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

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

// Result has the suggestions of one kind.
type Result struct {
	Total

	Suggestions []Suggestion // by score, then key
	Reasons     []Reason     // why there are none, or why the list is not complete
}

// Total has the sizes of a Result.
type Total struct {
	Kind     string  `json:"kind"`
	Found    int     `json:"of"`
	Stored   int     `json:"shown"`    // the best of Found, at most maxSuggestions
	Judged   int     `json:"tried"`    // prompts, domains, names …
	ByChance float64 `json:"expected"` // suggestions that chance alone gives at most; 0: unknown
}

// Reason is why a kind has no suggestions, or may lack some.
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

// WindowTo returns the window that ends with a day.
func WindowTo(last time.Time) Window {
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
type rule func(context.Context, *clickhouse.Conn, Brand, Window) ([]Result, error)

// find applies all rules to a brand, in the order in which their kinds are listed.
func find(ctx context.Context, warehouse *clickhouse.Conn, brand Brand, window Window) (all []Result, err error) {
	for _, r := range []rule{comparisons, searches, pages, texts} {
		results, err := r(ctx, warehouse, brand, window)
		if err != nil {
			return nil, err
		}
		all = append(all, results...)
	}
	return all, nil
}

// ranked sorts and cuts the suggestions. Of the lacks, the first may be why there are none.
func (r Result) ranked(lacks ...Reason) Result {
	slices.SortFunc(r.Suggestions, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	r.Found = len(r.Suggestions)
	r.Suggestions = r.Suggestions[:min(r.Found, maxSuggestions)]
	if i := slices.IndexFunc(lacks, func(l Reason) bool { return l.Have < l.Need }); i >= 0 {
		r.Reasons = append(r.Reasons, lacks[i])
	}
	return r
}

// The most bytes of a suggestion that its table takes. Of evidence it takes twice as much, with blanks, version and
// window.
const (
	maxKey      = 512
	maxText     = 2000
	maxReason   = 8192
	maxEvidence = 32_000
)

// storable leaves out suggestions that the table refuses, or whose key another one has. A Reason counts them.
func (r Result) storable() (Result, error) {
	all, keys := r.Suggestions, map[string]bool{"": true}
	r.Suggestions = nil
	for _, s := range all {
		s.Key, s.Text, s.Reason = storable(s.Key), storable(s.Text), storable(s.Reason)
		evidence, err := json.Marshal(s.Evidence)
		if err != nil {
			return r, fmt.Errorf("encode evidence of %s %q: %w", s.Kind, s.Key, err)
		}
		fits := len(s.Key) <= maxKey && len(s.Text) <= maxText && len(s.Reason) <= maxReason
		if fits && len(evidence) <= maxEvidence && !keys[s.Key] {
			keys[s.Key], r.Suggestions = true, append(r.Suggestions, s)
		}
	}
	if r.Stored = len(r.Suggestions); r.Stored < len(all) {
		r.Reasons = append(r.Reasons, Reason{r.Kind, "too_long", r.Stored, len(all)})
	}
	return r, nil
}

// storable replaces what PostgreSQL refuses in texts.
func storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

// quoted returns a text as others quote it.
func quoted(text string) string { return OneLine(text, 300) }

// OneLine returns at most so many code points of a text, on one line and without signs that are not shown.
func OneLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		text = strings.TrimSpace(string(runes[:limit-1])) + "…"
	}
	return text
}
