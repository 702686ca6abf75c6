package name

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
)

// The least that a name needs, the most characters that it has, and the most that is in memory.
const (
	leastAnswers  = 5 // that it heads and that name a tracked entity
	leastPrompts  = 3 // of these
	maxCharacters = 64
	maxStarts     = 200_000
	maxRuns       = 500_000
	platformsOwn  = 10 // prompts of a platform from which on a shared run is its own
	rowWords      = 4
)

// A row is a run of words, zero behind the last: as many as a shared run has, and a beginning of a phrase at most.
type row [rowWords]token

// Name is an untracked name.
type Name struct {
	Key       string   `json:"-"`    // folded
	Name      string   `json:"name"` // its most frequent spelling
	Answers   int      `json:"answers"`
	Leading   int      `json:"leading_answers"`
	Beside    int      `json:"beside_tracked"` // leading answers that name a tracked entity
	Prompts   int      `json:"prompts"`        // of these
	Platforms []string `json:"platforms"`      // of leading answers
}

// markBoilerplate marks the runs of words that over half of a platform's answers share. Each word of such a run is in
// over half of them, which keeps runs few.
func (t *Texts) markBoilerplate(texts []text) {
	prompts, words, runs := map[uuid.UUID]bool{}, make([]tally, len(t.words)), map[row]tally{}
	for n, text := range texts {
		prompts[text.PromptID] = true
		for _, token := range text.tokens {
			words[token.word()].add(n + 1)
		}
	}
	isCommon := func(c tally) bool { return 2*int(c.answers) > len(texts) && len(prompts) >= platformsOwn }
	isRare := func(token token) bool { return !isCommon(words[token.word()]) }
	each := func(texts []text, take func(n int, tokens []token)) {
		for n, text := range texts {
			for i := range len(text.tokens) - rowWords {
				if run := text.tokens[i : i+rowWords]; !slices.ContainsFunc(run, isRare) {
					take(n+1, run)
				}
			}
		}
	}
	each(texts, func(n int, tokens []token) {
		run := spelled(tokens)
		if count, ok := runs[run]; ok || len(runs) < maxRuns {
			count.add(n)
			runs[run] = count
		} else {
			t.isFull = true
		}
	})
	each(t.texts, func(_ int, tokens []token) {
		if isCommon(runs[spelled(tokens)]) {
			for i := range tokens {
				tokens[i] |= boilerplate
			}
		}
	})
}

func spelled(tokens []token) (r row) {
	for i, token := range tokens {
		r[i] = token.word()
	}
	return r
}

// folds returns the first n folded words of a phrase.
func (t *Texts) folds(tokens []token, n int) (r row) {
	for i, token := range tokens[:n] {
		r[i] = t.word(token).fold
	}
	return r
}

// join returns the text of a row.
func (t *Texts) join(r row) (text string) {
	for _, token := range r {
		text += " " + t.word(token).text
	}
	return strings.TrimSpace(text)
}

// countCases counts in how many answers a word is written in lower case, and in how many with a capital that no
// sentence asks for.
func (t *Texts) countCases() {
	for n, text := range t.texts {
		for i, token := range text.tokens[:len(text.tokens)-1] {
			switch {
			case token&boilerplate != 0:
			case !t.word(token).capital:
				t.folded(token).lower.add(n + 1)
			case i > 0 && t.gap(token).text == " " && !t.word(text.tokens[i-1]).capital, t.follows(text.tokens[i+1]):
				t.folded(token).inside.add(n + 1)
			}
		}
	}
}

// follows reports whether a word goes on a phrase.
func (t *Texts) follows(k token) bool {
	return t.gap(k).text == " " && (t.word(k).capital || t.word(k).digit)
}

// A phrase is a row of words with capitals and numbers, without generic words in front.
type phrase struct {
	at     int // its first token
	tokens []token
	heads  bool // a line, item, heading, bold span, link or cell opens with it, as with tracked names
	fills  bool // it opens and closes one
}

func (t *Texts) phrases(tokens []token) (phrases []phrase) {
	var end int
	for i, last := 0, len(tokens)-1; i < last; i = end {
		end = i + 1
		if tokens[i]&boilerplate != 0 || !t.word(tokens[i]).capital {
			continue
		}
		for end < last && tokens[end]&boilerplate == 0 && t.follows(tokens[end]) {
			end++
		}
		first := i
		for first < end && t.folded(tokens[first]).isGeneric() {
			first++
		}
		if first < end {
			before, after := t.gap(tokens[i]), t.gap(tokens[end])
			opened := first == i && before.opens
			heads := opened || strings.HasPrefix(after.text, ":") || strings.HasPrefix(after.text, "$") ||
				strings.HasSuffix(before.text, ": ") && after.closes
			phrases = append(phrases, phrase{first, tokens[first:end], heads, opened && after.closes})
		}
	}
	return phrases
}

// A start counts the answers with phrases that begin alike, and the words that follow.
type start struct {
	tally

	next int
}

// countStarts counts how phrases begin. When there are too many, it forgets the rarest, down to half.
func (t *Texts) countStarts() {
	for n, text := range t.texts {
		for _, p := range t.phrases(text.tokens) {
			for length := range min(len(p.tokens), rowWords) {
				key := t.folds(p.tokens, length+1)
				s := t.starts[key]
				s.add(n + 1)
				t.starts[key] = s
			}
			if len(t.starts) > maxStarts {
				t.forget()
			}
		}
	}
	for key := range t.starts {
		if last := slices.Index(append(key[:], 0), 0) - 1; last > 0 {
			key[last] = 0
			s := t.starts[key]
			s.next++
			t.starts[key] = s
		}
	}
}

func (t *Texts) forget() {
	t.isFull = true
	for least := int32(1); len(t.starts) > maxStarts/2; least++ {
		maps.DeleteFunc(t.starts, func(_ row, s start) bool { return s.answers <= least })
	}
}

// A candidate has the counts of what may be a name.
type candidate struct {
	answers, leading, beside, filled, prompts tally
	uses, heads, alone                        int
	next                                      token // a word that follows it
	isVaried                                  bool  // others follow it too
	platforms                                 []string
	spelling                                  row // the most frequent one
}

// isLabel reports whether answers repeat a phrase, as they do labels such as Pros.
func (c *candidate) isLabel() bool { return 10*c.heads > 17*int(c.leading.answers) }

// isName reports whether it stands where names stand, and either has products or stands alone.
func (c *candidate) isName() bool {
	fills := c.filled.answers >= leastAnswers && 4*c.filled.answers >= c.answers.answers
	makes := 10*c.alone <= 7*c.uses && (c.isVaried || c.next != 0 && fills)
	enough := c.beside.answers >= leastAnswers && c.prompts.answers >= leastPrompts
	return enough && 10*c.leading.answers >= 6*c.answers.answers && (makes || fills && !c.isLabel())
}

// countNames counts what each name has, and returns the number of prompts.
func (t *Texts) countNames() (prompts int) {
	byPrompt := slices.SortedStableFunc(slices.Values(t.texts), func(a, b text) int {
		return slices.Compare(a.PromptID[:], b.PromptID[:])
	})
	for n, text := range byPrompt {
		if n == 0 || text.PromptID != byPrompt[n-1].PromptID {
			prompts++
		}
		for _, p := range t.phrases(text.tokens) {
			length := t.nameLength(p.tokens)
			key := t.folds(p.tokens, length)
			if t.starts[key].answers == 0 || t.hasTracked(p.tokens) { // forgotten or no news
				continue
			}
			c := t.candidates[key]
			if c == nil {
				c = &candidate{}
				t.candidates[key] = c
			}
			r := spelled(p.tokens[:length])
			t.spellings[r]++
			if cmp.Or(t.spellings[r]-t.spellings[c.spelling], strings.Compare(t.join(c.spelling), t.join(r))) > 0 {
				c.spelling = r
			}
			c.uses++
			c.answers.add(n + 1)
			switch {
			case length == len(p.tokens):
				c.alone++
			case c.next == 0:
				c.next = t.word(p.tokens[length]).fold
			case c.next != t.word(p.tokens[length]).fold:
				c.isVaried = true
			}
			if p.fills {
				c.filled.add(n + 1)
			}
			if !p.heads {
				continue
			}
			c.heads++
			c.leading.add(n + 1)
			if !slices.Contains(c.platforms, text.Platform) {
				c.platforms = append(c.platforms, text.Platform)
			}
			if text.Tracked {
				c.beside.add(n + 1)
				c.prompts.add(prompts)
			}
		}
	}
	return prompts
}

// hasTracked reports whether words hold a tracked name.
func (t *Texts) hasTracked(tokens []token) bool {
	for i := range tokens {
		if brand, rival := t.match(t.tracked, tokens[i:]); brand+rival > 0 {
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
		here, longer := t.starts[t.folds(tokens, length)], t.starts[t.folds(tokens, length+1)]
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

// names returns the names among the candidates, the best first. A part of a name with hyphens is none.
func (t *Texts) names() (names []Name) {
	parts := map[string]bool{}
	for row, c := range t.candidates {
		key := t.join(row)
		if !c.isName() || utf8.RuneCountInString(key) > maxCharacters {
			continue
		}
		names = append(names, Name{
			key, t.join(c.spelling), int(c.answers.answers), int(c.leading.answers), int(c.beside.answers),
			int(c.prompts.answers), slices.Sorted(slices.Values(c.platforms)),
		})
		for part := range strings.SplitSeq(key, "-") {
			parts[part] = parts[part] || part != key
		}
	}
	names = slices.DeleteFunc(names, func(n Name) bool { return parts[n.Key] })
	slices.SortFunc(names, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.Beside, a.Beside), cmp.Compare(a.Key, b.Key))
	})
	return names
}
