package name

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// The least that a name needs.
const (
	leastAnswers = 5 // that it leads and that name a tracked entity
	leastPrompts = 3 // of these
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

// A stat is about a name that may be one.
type stat struct {
	answers, leading, beside, filled tally
	leads, bare, uses                int
	next                             uint32 // a word that follows
	hasNext, hasMore                 bool   // one follows, several do
	prompts, platforms               map[uint32]bool
	spellings                        map[string]int
}

// add counts an answer once.
func (t *tally) add(answer int) {
	if t.last != answer {
		t.answers, t.last = t.answers+1, answer
	}
}

// isLabel reports whether answers repeat a phrase, as they do labels such as Pros.
func (s *stat) isLabel() bool { return 10*s.leads > 17*s.leading.answers }

// isName reports whether it stands where names stand, and either has products or stands alone.
func (s *stat) isName() bool {
	fills := s.filled.answers >= leastAnswers && 4*s.filled.answers >= s.answers.answers
	makes := 10*s.bare <= 7*s.uses && (s.hasMore || s.hasNext && fills)
	return s.beside.answers >= leastAnswers && len(s.prompts) >= leastPrompts &&
		10*s.leading.answers >= 6*s.answers.answers && (makes || fills && !s.isLabel())
}

// countNames reads the phrases twice: a name's length depends on all of them.
func (t *Texts) countNames() (*tree, map[uint32]*stat) {
	beginnings, stats := newTree(), map[uint32]*stat{}
	for n, text := range t.texts {
		for p := range t.phrases(text.tokens) {
			beginnings.add(uint32(n+1), p.folds)
		}
	}
	for n := range t.texts {
		for p := range t.phrases(t.texts[n].tokens) {
			if t.trackedIn(p.folds) {
				continue
			}
			length := t.nameLength(beginnings, p.folds)
			if node := beginnings.find(p.folds[:length]); node > 0 {
				if stats[node] == nil {
					stats[node] = &stat{}
				}
				stats[node].count(n+1, p, length)
				if beginnings.nodes[node].answers >= leastAnswers {
					t.describe(stats[node], &t.texts[n], p, length)
				}
			}
		}
	}
	return beginnings, stats
}

// trackedIn reports whether words hold a tracked name.
func (t *Texts) trackedIn(folds []uint32) bool {
	for i, word := range folds {
		for _, n := range t.byFirst[word] {
			if name := t.tracked[n]; len(folds)-i >= len(name) && slices.Equal(folds[i:i+len(name)], name) {
				return true
			}
		}
	}
	return false
}

// nameLength returns how many words of a phrase are its name: the first, and those that always follow, unless too
// little varies after them.
func (t *Texts) nameLength(beginnings *tree, folds []uint32) int {
	length := 1
	for ; length < min(maxDepth-1, len(folds)); length++ {
		here := &beginnings.nodes[beginnings.find(folds[:length])]
		longer := &beginnings.nodes[beginnings.find(folds[:length+1])]
		first := &t.folds[folds[0]]
		isWeak := utf8.RuneCountInString(first.text) <= 2 || first.lower > 0
		weak := length == 1 && isWeak && 5*longer.answers >= 4*here.answers
		always := longer.answers == here.answers && longer.next >= 2
		if !weak && (!always || t.folds[folds[length]].anyDigit) {
			break
		}
	}
	return length
}

func (s *stat) count(answer int, p phrase, length int) {
	s.uses++
	s.answers.add(answer)
	if p.leads {
		s.leads++
		s.leading.add(answer)
	}
	if p.fills {
		s.filled.add(answer)
	}
	if length == len(p.folds) {
		s.bare++
		return
	}
	s.hasMore = s.hasMore || s.hasNext && s.next != p.folds[length]
	s.next, s.hasNext = p.folds[length], true
}

// describe counts what only a frequent phrase needs.
func (t *Texts) describe(s *stat, text *text, p phrase, length int) {
	if s.spellings == nil {
		s.prompts, s.platforms, s.spellings = map[uint32]bool{}, map[uint32]bool{}, map[string]int{}
	}
	s.spellings[t.join(p.tokens[:length])]++
	if p.leads {
		s.platforms[text.platform] = true
	}
	if p.leads && text.tracked {
		s.beside.add(s.answers.last)
		s.prompts[text.prompt] = true
	}
}

func (t *Texts) join(tokens []token) string {
	words := make([]string, len(tokens))
	for i, token := range tokens {
		words[i] = t.of(token).text
	}
	return strings.Join(words, " ")
}

// names returns the names among the stats, the best first.
func (t *Texts) names(beginnings *tree, stats map[uint32]*stat) (names []Name) {
	platforms := make([]string, len(t.platforms))
	for platform, n := range t.platforms {
		platforms[n] = platform
	}
	parts := map[string]int{} // of names with hyphens
	for node, s := range stats {
		if !s.isName() {
			continue
		}
		name := Name{
			Key: t.keyOf(beginnings, node), Answers: s.answers.answers, Leading: s.leading.answers,
			Beside: s.beside.answers, Prompts: len(s.prompts), Score: percent(s.beside.answers, t.answers),
		}
		name.Name = slices.MinFunc(slices.Sorted(maps.Keys(s.spellings)), func(a, b string) int {
			return s.spellings[b] - s.spellings[a]
		})
		for n := range s.platforms {
			name.Platforms = append(name.Platforms, platforms[n])
		}
		slices.Sort(name.Platforms)
		if isLong(name.Key) {
			continue
		}
		names = append(names, name)
		for part := range strings.SplitSeq(name.Key, "-") {
			if part != name.Key {
				parts[part]++
			}
		}
	}
	names = slices.DeleteFunc(names, func(n Name) bool { return parts[n.Key] > 0 })
	slices.SortFunc(names, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	})
	return names
}

func (t *Texts) keyOf(beginnings *tree, n uint32) string {
	each, prefix := &beginnings.nodes[n], ""
	if each.parent > 0 {
		prefix = t.keyOf(beginnings, each.parent) + " "
	}
	return prefix + t.folds[each.word].text
}

// percent rounds as the reports do.
func percent(a, b int) float64 {
	return math.Floor(1000*float64(a)/float64(b)+0.5+1e-9) / 10
}
