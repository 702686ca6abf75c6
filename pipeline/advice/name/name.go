package name

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
)

// The least that a name needs, the most characters that it has, and the most beginnings of phrases in memory.
const (
	leastAnswers  = 5 // that it leads and that name a tracked entity
	leastPrompts  = 3 // of these
	maxCharacters = 64
	maxStarts     = 200_000
)

// Name is an untracked name.
type Name struct {
	Key       string   `json:"-"`    // folded
	Name      string   `json:"name"` // its most frequent spelling
	Answers   int      `json:"answers"`
	Leading   int      `json:"leading_answers"`
	Beside    int      `json:"beside_tracked"` // leading answers that name a tracked entity
	Prompts   int      `json:"prompts"`        // of these
	Platforms []string `json:"platforms"`      // of leading answers
	Score     float64  `json:"-"`              // answers beside tracked entities, in % of all
}

// A start counts the answers with phrases that begin alike, and the words that follow.
type start struct {
	tally

	next int
}

// A stat is about a name that may be one.
type stat struct {
	key                              string
	answers, leading, beside, filled tally
	leads, bare, uses                int
	next                             map[token]bool
	prompts                          map[uuid.UUID]bool
	platforms                        map[string]bool
	spellings                        map[string]int
}

// isLabel reports whether answers repeat a phrase, as they do labels such as Pros.
func (s *stat) isLabel() bool { return 10*s.leads > 17*s.leading.answers }

// isName reports whether it stands where names stand, and either has products or stands alone.
func (s *stat) isName() bool {
	fills := s.filled.answers >= leastAnswers && 4*s.filled.answers >= s.answers.answers
	makes := 10*s.bare <= 7*s.uses && (len(s.next) > 1 || len(s.next) == 1 && fills)
	enough := s.beside.answers >= leastAnswers && len(s.prompts) >= leastPrompts
	leads := 10*s.leading.answers >= 6*s.answers.answers
	return enough && leads && (makes || fills && !s.isLabel()) && utf8.RuneCountInString(s.key) <= maxCharacters
}

// countStarts counts how phrases begin. When there are too many, it forgets the rarest.
func (t *Texts) countStarts() {
	for n, text := range t.texts {
		for _, p := range t.phrases(text.tokens) {
			var before row
			for length := range min(len(p.tokens), rowWords) {
				here := t.first(p.tokens, length+1)
				s, ok := t.starts[here]
				if parent := t.starts[before]; !ok && length > 0 {
					parent.next++
					t.starts[before] = parent
				}
				s.add(n + 1)
				t.starts[here], before = s, here
			}
			for least := 1; len(t.starts) > maxStarts; least++ {
				maps.DeleteFunc(t.starts, func(_ row, s start) bool { return s.answers <= least })
				t.isCut = true
			}
		}
	}
}

// countNames counts what each name has.
func (t *Texts) countNames() {
	for n := range t.texts {
		for _, p := range t.phrases(t.texts[n].tokens) {
			length := t.nameLength(p.tokens)
			key := t.first(p.tokens, length)
			answers := t.starts[key].answers
			if answers == 0 || t.hasTracked(p.tokens) { // forgotten or no news
				continue
			}
			s := t.stats[key]
			if s == nil {
				s = &stat{}
				t.stats[key] = s
			}
			s.count(n+1, p)
			if answers >= leastAnswers {
				t.describe(s, &t.texts[n], p, length)
			}
		}
	}
}

// hasTracked reports whether words hold a tracked name.
func (t *Texts) hasTracked(tokens []token) bool {
	for i := range tokens {
		if brand, rival := t.trackedAt(tokens[i:]); brand || rival {
			return true
		}
	}
	return false
}

// nameLength returns how many words of a phrase are its name: the first, and those that always follow, unless too
// little varies after them.
func (t *Texts) nameLength(tokens []token) int {
	length := 1
	for ; length < min(rowWords-1, len(tokens)); length++ {
		here, longer := t.starts[t.first(tokens, length)], t.starts[t.first(tokens, length+1)]
		first := t.folded(tokens[0])
		isWeak := utf8.RuneCountInString(first.text) <= 2 || first.lower.answers > 0
		weak := length == 1 && isWeak && 5*longer.answers >= 4*here.answers
		always := longer.answers == here.answers && longer.next >= 2
		if !weak && (!always || strings.ContainsAny(t.folded(tokens[length]).text, "0123456789")) {
			break
		}
	}
	return length
}

func (s *stat) count(answer int, p phrase) {
	s.answers.add(answer)
	if p.leads {
		s.leads++
		s.leading.add(answer)
	}
	if p.fills {
		s.filled.add(answer)
	}
}

// describe counts what only a frequent phrase needs.
func (t *Texts) describe(s *stat, text *text, p phrase, length int) {
	if s.spellings == nil {
		s.key, s.next, s.prompts = t.join(p.tokens[:length], true), map[token]bool{}, map[uuid.UUID]bool{}
		s.platforms, s.spellings = map[string]bool{}, map[string]int{}
	}
	s.uses++
	s.spellings[t.join(p.tokens[:length], false)]++
	if length == len(p.tokens) {
		s.bare++
	} else {
		s.next[t.of(p.tokens[length]).fold] = true
	}
	if p.leads {
		s.platforms[text.Platform] = true
	}
	if p.leads && text.Tracked {
		s.beside.add(s.answers.last)
		s.prompts[text.PromptID] = true
	}
}

func (t *Texts) join(tokens []token, isFolded bool) string {
	words := make([]string, len(tokens))
	for i, token := range tokens {
		words[i] = t.of(token).text
		if isFolded {
			words[i] = t.folded(token).text
		}
	}
	return strings.Join(words, " ")
}

// names returns the names among the stats, the best first. A part of a name with hyphens is none.
func (t *Texts) names() (names []Name) {
	parts := map[string]bool{}
	for _, s := range t.stats {
		if !s.isName() {
			continue
		}
		spelling := slices.MinFunc(slices.Sorted(maps.Keys(s.spellings)), func(a, b string) int {
			return s.spellings[b] - s.spellings[a]
		})
		names = append(names, Name{
			s.key, spelling, s.answers.answers, s.leading.answers, s.beside.answers, len(s.prompts),
			slices.Sorted(maps.Keys(s.platforms)), percent(s.beside.answers, t.answers),
		})
		for part := range strings.SplitSeq(s.key, "-") {
			parts[part] = parts[part] || part != s.key
		}
	}
	names = slices.DeleteFunc(names, func(n Name) bool { return parts[n.Key] })
	slices.SortFunc(names, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return names
}

// percent rounds as the reports do.
func percent(a, b int) float64 {
	return math.Floor(1000*float64(a)/float64(b)+0.5+1e-9) / 10
}
