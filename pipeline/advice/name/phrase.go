package name

import (
	"slices"

	"github.com/gofrs/uuid/v5"
)

// rowWords is how many words a shared run has, and a beginning of a phrase at most.
const rowWords = 4

// A row is a run of words, or the first folded words of a phrase.
type row [rowWords]token

// platformsOwn is how many prompts of a platform make a shared run its own.
const platformsOwn = 10

// cutShared marks the words of runs that over half of a platform's answers share: they are the platform's and not the
// answer's.
func (t *Texts) cutShared() {
	shared, byPlatform := map[row]bool{}, map[string][]text{}
	for _, text := range t.texts {
		byPlatform[text.Platform] = append(byPlatform[text.Platform], text)
	}
	for _, texts := range byPlatform {
		t.addShared(shared, texts)
	}
	for _, text := range t.texts {
		for i := range len(text.tokens) - rowWords {
			for j := i; shared[text.run(i)] && j < i+rowWords; j++ {
				text.tokens[j] |= cut
			}
		}
	}
}

func (t *text) run(i int) (r row) {
	for j := range r {
		r[j] = t.tokens[i+j].word()
	}
	return r
}

// addShared adds a platform's runs. All words of such a run are in over half of its answers, which keeps runs few.
func (t *Texts) addShared(shared map[row]bool, texts []text) {
	prompts, words, runs := map[uuid.UUID]bool{}, make([]tally, len(t.words)), map[row]tally{}
	for n, text := range texts {
		prompts[text.PromptID] = true
		for _, token := range text.tokens {
			words[token.word()].add(n + 1)
		}
	}
	isRare := func(token token) bool { return 2*words[token.word()].answers <= len(texts) }
	for n, text := range texts {
		for i := range len(text.tokens) - rowWords {
			if slices.ContainsFunc(text.tokens[i:i+rowWords], isRare) {
				continue
			}
			run := text.run(i)
			count := runs[run]
			count.add(n + 1)
			if runs[run] = count; 2*count.answers > len(texts) && len(prompts) >= platformsOwn {
				shared[run] = true
			}
		}
	}
}

// countCases counts in how many answers a word is written in lower case, and in how many with a capital that no
// sentence asks for.
func (t *Texts) countCases() {
	for n, text := range t.texts {
		for i, token := range text.tokens[:len(text.tokens)-1] {
			word, next := t.of(token), text.tokens[i+1]
			switch {
			case token.is(cut):
			case !word.capital:
				t.folded(token).lower.add(n + 1)
			case i > 0 && token.is(blank) && !t.of(text.tokens[i-1]).capital,
				next.is(blank) && t.isCapital(next):
				t.folded(token).amid.add(n + 1)
			}
		}
	}
}

// isCapital reports whether a word goes on a phrase.
func (t *Texts) isCapital(token token) bool { return t.of(token).capital || t.of(token).digit }

// A phrase is a row of words with capitals and numbers, without generic words in front.
type phrase struct {
	at     int // its first token
	tokens []token
	leads  bool // it stands where tracked names stand: a line, item, heading, bold span, link or cell opens with it
	fills  bool // it opens and closes one
}

func (t *Texts) phrases(tokens []token) (phrases []phrase) {
	var end int
	last := len(tokens) - 1
	for i := 0; i < last; i = end {
		end = i + 1
		if tokens[i].is(cut) || !t.of(tokens[i]).capital {
			continue
		}
		for end < last && tokens[end]&(blank|cut) == blank && t.isCapital(tokens[end]) {
			end++
		}
		first := i
		for first < end && t.folded(tokens[first]).isGeneric() {
			first++
		}
		if first < end {
			start, after := tokens[i], tokens[end]
			opened := first == i && start.is(opens)
			leads := opened || after.is(priced) || start.is(labelled) && after.is(closes)
			phrases = append(phrases, phrase{first, tokens[first:end], leads, opened && after.is(closes)})
		}
	}
	return phrases
}

// first returns the first folded words of a phrase.
func (t *Texts) first(tokens []token, n int) (r row) {
	for i, token := range tokens[:n] {
		r[i] = t.of(token).fold
	}
	return r
}
