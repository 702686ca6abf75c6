package name

import (
	"iter"
	"slices"
)

const (
	sharedWords    = 4
	platformsOwn   = 10  // prompts of a platform from which on a shared run is its own
	blockOfAnswers = 100 // in which candidates are looked for
)

// A run is a row of spellings.
type run [sharedWords]token

func (t *text) runs() iter.Seq2[int, run] {
	return func(yield func(int, run) bool) {
		for i := range len(t.tokens) - sharedWords {
			if !yield(i, run{t.tokens[i].word(), t.tokens[i+1].word(), t.tokens[i+2].word(), t.tokens[i+3].word()}) {
				return
			}
		}
	}
}

// cutShared marks the words of runs that over half of a platform's answers share: they are the platform's and not the
// answer's.
func (t *Texts) cutShared() {
	shared := map[run]bool{}
	for platform := range uint32(len(t.platforms)) {
		var answers []*text
		prompts := map[uint32]bool{}
		for i := range t.texts {
			if t.texts[i].platform == platform {
				answers = append(answers, &t.texts[i])
				prompts[t.texts[i].prompt] = true
			}
		}
		if len(prompts) >= platformsOwn {
			addShared(shared, answers)
		}
	}
	if len(shared) == 0 {
		return
	}
	for _, text := range t.texts {
		for i, r := range text.runs() {
			for j := i; shared[r] && j < i+sharedWords; j++ {
				text.tokens[j] |= cut
			}
		}
	}
}

// addShared adds the runs of over half of the answers. Such a run is in over half of one block of answers too, so only
// the counts of a block are in memory.
func addShared(shared map[run]bool, answers []*text) {
	candidates, counts := map[run]bool{}, map[run]tally{}
	for block := range slices.Chunk(answers, blockOfAnswers) {
		countRuns(counts, block, nil)
		for r, count := range counts {
			if 2*count.answers > len(block) {
				candidates[r] = true
			}
		}
		clear(counts)
	}
	countRuns(counts, answers, candidates)
	for r, count := range counts {
		if 2*count.answers > len(answers) {
			shared[r] = true
		}
	}
}

// A tally counts answers, each once.
type tally struct{ answers, last int }

func countRuns(counts map[run]tally, answers []*text, only map[run]bool) {
	for n, text := range answers {
		for _, r := range text.runs() {
			if only != nil && !only[r] {
				continue
			}
			if count := counts[r]; count.last != n+1 {
				counts[r] = tally{count.answers + 1, n + 1}
			}
		}
	}
}

// countCases counts in how many answers a word is written in lower case, and in how many with a capital that no
// sentence asks for.
func (t *Texts) countCases() {
	for n, text := range t.texts {
		answer := uint32(n + 1)
		for i, token := range text.tokens[:len(text.tokens)-1] {
			if token.is(cut) {
				continue
			}
			word := t.of(token)
			count := &t.folds[word.fold]
			if !word.capital {
				if count.lowerIn != answer {
					count.lower, count.lowerIn = count.lower+1, answer
				}
				continue
			}
			next := text.tokens[i+1]
			inside := token.is(blank) && i > 0 && !t.of(text.tokens[i-1]).capital
			if count.amidIn != answer && (inside || next.is(blank) && (t.of(next).capital || t.of(next).digit)) {
				count.amid, count.amidIn = count.amid+1, answer
			}
		}
	}
}

// A phrase is a row of words with capitals and numbers, without generic words in front. Its slices are valid until the
// next one.
type phrase struct {
	at     int // its first token
	folds  []uint32
	tokens []token
	leads  bool // it stands where tracked names stand: a line, item, heading, bold span, link or cell opens with it
	fills  bool // it opens and closes one
}

func (t *Texts) phrases(tokens []token) iter.Seq[phrase] {
	return func(yield func(phrase) bool) {
		var folds []uint32
		for i := 0; i < len(tokens)-1; {
			end := t.phraseEnd(tokens, i)
			first := i
			for first < end && t.folds[t.of(tokens[first]).fold].isGeneric() {
				first++
			}
			if first < end {
				folds = folds[:0]
				for _, token := range tokens[first:end] {
					folds = append(folds, t.of(token).fold)
				}
				start, after := tokens[i], tokens[end]
				fills := first == i && start.is(opens) && after.is(closes)
				leads := first == i && start.is(opens) || after.is(priced) || start.is(labelled) && after.is(closes)
				if !yield(phrase{first, folds, tokens[first:end], leads, fills}) {
					return
				}
			}
			i = max(end, i+1)
		}
	}
}

// phraseEnd returns where the capitalised words and numbers from i on end; i if there are none.
func (t *Texts) phraseEnd(tokens []token, i int) int {
	if tokens[i].is(cut) || !t.of(tokens[i]).capital {
		return i
	}
	for i++; i < len(tokens)-1; i++ {
		word := t.of(tokens[i])
		if tokens[i].is(cut) || !tokens[i].is(blank) || !word.capital && !word.digit {
			break
		}
	}
	return i
}
