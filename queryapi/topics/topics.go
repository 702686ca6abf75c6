// Package topics proposes topics for prompts, so that prompts with nearly the same question have the same topic.
package topics

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Brand has what proposals for its prompts depend on.
type Brand struct {
	Names   []string // the brand's and its competitors', which do not tell prompts apart
	Topics  []string
	Prompts []postgres.TrackedPrompt
}

// Read reads a brand of an organization, or returns postgres.ErrNotFound.
func Read(ctx context.Context, db *postgres.DB, organization, id uuid.UUID) (b Brand, err error) {
	snapshot, err := db.Snapshot(ctx, id)
	if err == nil && snapshot.OrganizationID != organization {
		err = postgres.ErrNotFound
	}
	if err != nil {
		return b, err
	}
	b.Names = append(snapshot.Aliases, snapshot.Name)
	for _, c := range snapshot.Competitors {
		b.Names = append(append(b.Names, c.Name), c.Aliases...)
	}
	if b.Topics, err = db.Topics(ctx, id); err != nil {
		return b, err
	}
	b.Prompts, err = db.Prompts(ctx, id)
	return b, err
}

// A subject is the name of a topic or the text of a prompt, which are compared.
type subject struct {
	text, topic string
	words       []word
	length      int      // of the first phrase, in words
	main        string   // the stems of the first phrase, a space before each
	first       *subject // of those that get the same new topic
	others      int      // after the first
}

// Propose returns topics by text, for the brand's prompts and for texts that may become prompts: the topic of the
// prompt, else an existing one whose name or prompts are near, else the first phrase of the shortest near text. A text
// that is near to nothing gets its own first phrase, or none if that is not a good name.
//
// The work grows with the pairs of texts that share a word; it ends with ctx, with its error.
func (b Brand) Propose(ctx context.Context, texts []string) (proposals map[string]string, err error) {
	subjects := b.subjects(texts)
	earlier := index{byStem: map[string][]int{}, shared: make([]int, len(subjects))}
	for i, s := range subjects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.topic == "" {
			s.join(subjects, earlier.sharing(s))
		}
		earlier.add(i, s)
	}
	proposals = map[string]string{}
	for _, s := range subjects {
		if s.first == nil || s.first.others > 0 || s.isSpecific() && s.length <= maxWords {
			proposals[s.text] = s.topic
		}
	}
	return proposals, nil
}

// An index finds the subjects that share words with another one.
type index struct {
	byStem map[string][]int // positions of subjects, each once
	shared []int            // by position: words shared with the subject that was last looked for
}

func (x index) add(position int, s *subject) {
	for _, w := range s.words {
		if at := x.byStem[w.stem]; len(at) == 0 || at[len(at)-1] != position {
			x.byStem[w.stem] = append(at, position)
		}
	}
}

// A match is an earlier subject, by position, and how many words it shares.
type match struct{ position, shared int }

// sharing returns the subjects that share a word with another one, in their order.
func (x index) sharing(s *subject) (matches []match) {
	for _, w := range s.words {
		for _, position := range x.byStem[w.stem] {
			if x.shared[position] == 0 {
				matches = append(matches, match{position: position})
			}
			x.shared[position]++
		}
	}
	for i, m := range matches {
		matches[i].shared, x.shared[m.position] = x.shared[m.position], 0
	}
	slices.SortFunc(matches, func(a, b match) int { return cmp.Compare(a.position, b.position) })
	return matches
}

const maxWords = 3       // of a name that is looked for in prompts, and that a prompt near to nothing gets
const comparedWords = 16 // of a subject

// manyPrompts is the number from which on words of most prompts do not tell them apart.
const manyPrompts = 10

// subjects returns topics, prompts with a topic, then the other texts: those first whose first phrase is a good name,
// the short ones first.
func (b Brand) subjects(texts []string) (all []*subject) {
	names := map[string]bool{}
	for _, name := range b.Names {
		names[stemsOf(wordsOf(name))] = true
	}
	count, seen := map[string]int{}, map[string]bool{}
	add := func(text, topic string) {
		if seen[text] {
			return
		}
		seen[text] = true
		s := &subject{text: text, topic: topic, words: withoutNames(wordsOf(text), names)}
		all = append(all, s)
		for _, w := range s.words {
			count[w.stem]++
		}
	}
	for _, topic := range b.Topics {
		add(topic, topic)
	}
	for _, p := range b.Prompts {
		if p.Topic == "" || slices.Contains(b.Topics, p.Topic) { // the others' are inactive
			add(p.Text, p.Topic)
		}
	}
	for _, text := range texts {
		add(text, "")
	}
	isCommon := func(w word) bool { return len(all) >= manyPrompts && 2*count[w.stem] > len(all) }
	for _, s := range all {
		if rare := slices.DeleteFunc(slices.Clone(s.words), isCommon); len(rare) > 0 {
			s.words = rare
		}
		s.words = s.words[:min(len(s.words), comparedWords)]
		for s.length < len(s.words) && s.words[s.length].phrase == s.words[0].phrase {
			s.length++
		}
		s.main = stemsOf(s.words[:s.length])
	}
	slices.SortStableFunc(all, func(a, b *subject) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(len(a.words), len(b.words)))
	})
	return all
}

func (s *subject) rank() int {
	switch {
	case s.topic != "":
		return 0
	case s.isSpecific():
		return s.length
	}
	return math.MaxInt
}

// longWord is the length from which on a single word is a good name: Stehschreibtisch.
const longWord = 9

func (s *subject) isSpecific() bool {
	return s.length > 1 || utf8.RuneCountInString(s.main) > longWord
}

// join takes the topic of the nearest earlier subject, an existing topic first, else makes one.
func (s *subject) join(subjects []*subject, matches []match) {
	nearest, highest := s, 0.0
	for _, m := range matches {
		other, shared := subjects[m.position], m.shared
		likeness := float64(shared) / float64(len(s.words)+len(other.words)-shared)
		if other.first == nil {
			likeness++
		}
		if likeness > highest && s.isNear(other, shared) {
			nearest, highest = other, likeness
		}
	}
	if s.topic, s.first = nearest.topic, nearest.first; s.first != nil {
		s.first.others++
	}
	if nearest != s {
		return
	}
	s.first = s
	if n := s.length; n > 0 {
		s.topic = strings.Join(strings.Fields(s.text[s.words[0].start:s.words[n-1].end]), " ")
	}
}

// isNear reports whether two subjects are about the same. Either their first phrases are equal, or one ends the other
// as "air fryer" ends "quiet air fryer", and it is specific or the name of a topic. Or they share half of their words:
// all of them, three, two with the last one of the first phrases, or the first phrases.
func (s *subject) isNear(other *subject, shared int) bool {
	ends := func(long, short *subject) bool { return strings.HasSuffix(long.main, short.main) }
	last := s.words[s.length-1].stem == other.words[other.length-1].stem
	same := s.main == other.main
	union := len(s.words) + len(other.words) - shared
	return same && s.isSpecific() || ends(other, s) && s.length > 1 ||
		ends(s, other) && (other.length > 1 || other.text == other.topic) ||
		2*shared >= union && (same || shared >= 3 || shared == 2 && last) || shared == union
}
