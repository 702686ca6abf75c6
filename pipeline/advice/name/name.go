package name

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
)

// The least that a name needs, and the most characters that it has.
const (
	leastAnswers  = 5 // that it heads and that name a tracked entity
	leastPrompts  = 3 // of these
	maxCharacters = 64
)

const (
	runWords     = 4  // of a run of words that may be boilerplate
	platformsOwn = 10 // prompts of a platform from which on a shared run is its own
)

// A row is a run of words, nil behind the last: a run that may be boilerplate, or a beginning of a phrase.
type row [runWords]*word

// rowOf returns the first n words of tokens.
func rowOf(tokens []*token, n int) (r row) {
	for i, token := range tokens[:n] {
		r[i] = token.word
	}
	return r
}

// foldedRow returns the first n words of tokens, folded.
func foldedRow(tokens []*token, n int) (r row) {
	for i, token := range tokens[:n] {
		r[i] = token.fold
	}
	return r
}

func (r row) String() (text string) {
	for _, word := range r {
		if word != nil {
			text += " " + word.text
		}
	}
	return strings.TrimSpace(text)
}

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

// markBoilerplate marks the runs of words that over half of a platform's answers share, in all texts. It counts runs of
// words each of which is in over half of them: these are few.
func (t *Texts) markBoilerplate() {
	byPlatform, boilerplate := map[string][]text{}, map[row]bool{}
	for _, text := range t.texts {
		byPlatform[text.Platform] = append(byPlatform[text.Platform], text)
	}
	for _, texts := range byPlatform {
		prompts, runs := map[uuid.UUID]bool{}, map[row]tally{}
		for _, w := range t.words {
			w.ofPlatform = tally{}
		}
		for n, text := range texts {
			prompts[text.PromptID] = true
			for _, token := range t.read(text.numbers) {
				token.ofPlatform.add(n + 1)
			}
		}
		isRare := func(w *word) bool { return 2*int(w.ofPlatform.answers) <= len(texts) }
		for n, text := range texts {
			tokens := t.read(text.numbers)
			for i := range len(tokens) - runWords {
				run := rowOf(tokens[i:], runWords)
				if slices.ContainsFunc(run[:], isRare) {
					continue
				}
				count, ok := runs[run]
				if !ok && len(runs) == maxRuns {
					t.isFull = true
					continue
				}
				count.add(n + 1)
				runs[run] = count
				if 2*int(count.answers) > len(texts) && len(prompts) >= platformsOwn {
					boilerplate[run] = true
				}
			}
		}
	}
	for _, text := range t.texts {
		tokens := t.read(text.numbers)
		for i := range len(tokens) - runWords {
			if !boilerplate[rowOf(tokens[i:], runWords)] {
				continue
			}
			for j, token := range tokens[i : i+runWords] {
				text.numbers[i+j] = t.number(tokenKey{token.gap, token.text, true})
			}
		}
	}
}

// countCases counts in how many answers a word is written in lower case, and in how many with a capital that no
// sentence asks for.
func (t *Texts) countCases() {
	for n, text := range t.texts {
		tokens := t.read(text.numbers)
		for i, token := range tokens[:len(tokens)-1] {
			switch {
			case token.isBoilerplate:
			case !token.isCapital:
				token.fold.lower.add(n + 1)
			case i > 0 && token.gap == " " && !tokens[i-1].isCapital, tokens[i+1].continues():
				token.fold.inside.add(n + 1)
			}
		}
	}
}

// A phrase is a run of words with capitals and numbers, without generic words in front.
type phrase struct {
	at     int // its first token
	tokens []*token
	heads  bool // a line, item, heading, bold span, link or cell opens with it, as with tracked names
	fills  bool // it opens and closes one
}

func phrases(tokens []*token) (phrases []phrase) {
	var end int
	for i, last := 0, len(tokens)-1; i < last; i = end {
		end = i + 1
		if tokens[i].isBoilerplate || !tokens[i].isCapital {
			continue
		}
		for end < last && !tokens[end].isBoilerplate && tokens[end].continues() {
			end++
		}
		first := i
		for first < end && tokens[first].fold.isGeneric() {
			first++
		}
		if first < end {
			after := tokens[end]
			opened := first == i && isOpened(tokens, i)
			heads := opened || strings.HasPrefix(after.gap, ":") || strings.HasPrefix(after.gap, "$") ||
				strings.HasSuffix(tokens[i].gap, ": ") && after.closes
			phrases = append(phrases, phrase{first, tokens[first:end], heads, opened && after.closes})
		}
	}
	return phrases
}

// number matches the number of an item with the signs behind it. The one of a measure, as 2.0 HP, has none.
var number = regexp.MustCompile(`^\d+[.)]\D*$`)

// isOpened reports whether a line, item, heading, bold span, link or cell begins with a token or the number before it,
// such as "1. Name".
func isOpened(tokens []*token, i int) bool {
	if tokens[i].opens || i == 0 {
		return tokens[i].opens
	}
	before, gap := tokens[i-1], tokens[i].gap
	return number.MatchString(before.text+gap) && opens.MatchString(before.gap+gap)
}

// A start counts the answers with phrases that begin alike, and the words that follow.
type start struct {
	tally

	next int
}

// countStarts counts how phrases begin. When there are too many, it forgets the rarest, down to half.
func (t *Texts) countStarts() {
	for n, text := range t.texts {
		for _, p := range phrases(t.read(text.numbers)) {
			for length := range min(len(p.tokens), runWords) {
				key := foldedRow(p.tokens, length+1)
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
		if last := slices.Index(append(key[:], nil), nil) - 1; last > 0 {
			key[last] = nil
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
	next                                      *word // one that follows it
	isVaried                                  bool  // others follow it too
	platforms                                 []string
	spelling                                  row // the most frequent one
}

// isLabel reports whether answers repeat a phrase, as they do labels such as Pros.
func (c *candidate) isLabel() bool { return 10*c.heads > 17*int(c.leading.answers) }

// isName reports whether it stands where names stand, and either has products or stands alone.
func (c *candidate) isName() bool {
	fills := c.filled.answers >= leastAnswers && 4*c.filled.answers >= c.answers.answers
	makes := 10*c.alone <= 7*c.uses && (c.isVaried || c.next != nil && fills)
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
		for _, p := range phrases(t.read(text.numbers)) {
			length := t.nameLength(p.tokens)
			key := foldedRow(p.tokens, length)
			if t.starts[key].answers == 0 || hasTracked(p.tokens) { // forgotten or no news
				continue
			}
			c := t.candidates[key]
			if c == nil {
				c = &candidate{}
				t.candidates[key] = c
			}
			r := rowOf(p.tokens, length)
			t.spellings[r]++
			more := t.spellings[r] - t.spellings[c.spelling]
			if more > 0 || more == 0 && r.String() < c.spelling.String() {
				c.spelling = r
			}
			c.uses++
			c.answers.add(n + 1)
			switch {
			case length == len(p.tokens):
				c.alone++
			case c.next == nil:
				c.next = p.tokens[length].fold
			case c.next != p.tokens[length].fold:
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

// hasTracked reports whether tokens hold a tracked name.
func hasTracked(tokens []*token) bool {
	for i := range tokens {
		if n := match(tokens[i:]); n[ofBrand]+n[ofRival] > 0 {
			return true
		}
	}
	return false
}

// nameLength returns how many words of a phrase are its name: the first, and those that always follow, unless too
// little varies after them.
func (t *Texts) nameLength(tokens []*token) int {
	length := 1
	for ; length < min(runWords-1, len(tokens)); length++ {
		here, longer := t.starts[foldedRow(tokens, length)], t.starts[foldedRow(tokens, length+1)]
		first := tokens[0].fold
		isWeak := utf8.RuneCountInString(first.text) <= 2 || first.lower.answers > 0
		weak := length == 1 && isWeak && 5*longer.answers >= 4*here.answers
		always := longer.answers == here.answers && longer.next >= 2
		if !weak && (!always || strings.ContainsAny(tokens[length].fold.text, "0123456789")) {
			break
		}
	}
	return length
}

// names returns the names among the candidates, the best first. A part of a name with hyphens is none.
func (t *Texts) names() (names []Name) {
	parts := map[string]bool{}
	for row, c := range t.candidates {
		key := row.String()
		if !c.isName() || utf8.RuneCountInString(key) > maxCharacters {
			continue
		}
		names = append(names, Name{
			key, c.spelling.String(), int(c.answers.answers), int(c.leading.answers), int(c.beside.answers),
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
