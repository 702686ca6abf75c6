package extract

import (
	"iter"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
)

// Entity is a brand or a competitor in a record.
type Entity = event.Entity

// A Mention is a place where a text names an entity: code points, from the first to the one after the last. A part that
// Prose removes from the middle of a name belongs to the mention.
type Mention struct {
	Entity     int // index, the brand first
	Start, End int
}

// Locate returns the mentions that the reader of a version counts, in the order in which they start. A version that
// this build does not carry is read as the current one. It takes time linear in the text, and a search per mention.
func Locate(version int, text string, brand *Entity, competitors []Entity) []Mention {
	r := versions[version]
	if r == nil {
		r = current
	}
	prose, removed := text, make([][]removal, len(r.parts))
	for i, find := range r.parts {
		cuts := find(prose)
		prose, removed[i] = without(prose, cuts), removals(cuts)
	}
	p, origins := r.passageOf(prose, false), r.alphabet().originsOf(prose)
	var mentions []Mention
	latest := make([]int, 1+len(competitors)) // mention of each entity
	r.namesOf(brand, competitors).mentions(&p, func(entity, at, end int, is kind) {
		first, last := originOf(origins, at).from, originOf(origins, end-1).to-1
		for _, removals := range slices.Backward(removed) {
			first, last = before(removals, first).from, before(removals, last).to-1
		}
		switch is {
		case counts:
			latest[entity] = len(mentions)
			mentions = append(mentions, Mention{entity, first, last + 1})
		case continues:
			mentions[latest[entity]].End = last + 1
		}
	})
	inCodePoints(text, mentions)
	return mentions
}

// An origin maps the bytes of the folded text from at on to the original text: all to the same part, or bytewise, each
// to the byte after the previous one, beginning with the part.
type origin struct {
	at int
	span
	bytewise bool
}

// originsOf folds a text and returns the origins of the result in their order.
func (a *alphabet) originsOf(s string) (origins []origin) {
	f := folder{letters: a}
	next := -1 // the byte of s that continues the last origin
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		part, end := a.foldFirst(s, i, r, n)
		at := len(f.out)
		f.putAll(part)
		folded := len(f.out) - at
		bytewise := folded == 1 && end == i+1
		if folded > 0 && !(bytewise && i == next) {
			origins = append(origins, origin{at, span{i, end}, bytewise})
		}
		if next = -1; bytewise {
			next = end
		}
		i = end
	}
	return origins
}

// originOf maps a byte of the folded text to its part of the original.
func originOf(origins []origin, at int) span {
	o := origins[sort.Search(len(origins), func(i int) bool { return origins[i].at > at })-1]
	if o.bytewise {
		return span{o.from + at - o.at, o.from + at - o.at + 1}
	}
	return o.span
}

// A removal is a cut, and where the text without cuts has what replaces it.
type removal struct {
	span
	at, end int
}

func removals(cuts []cut) []removal {
	removals, shorter := make([]removal, len(cuts)), 0
	for i, c := range cuts {
		at := c.from - shorter
		removals[i] = removal{c.span, at, at + len(c.replacement())}
		shorter = c.to - removals[i].end
	}
	return removals
}

// before maps a byte of a text without cuts to the text before the removals: the same byte, or a whole cut.
func before(removals []removal, at int) span {
	next := sort.Search(len(removals), func(i int) bool { return removals[i].end > at })
	if next < len(removals) && removals[next].at <= at {
		return removals[next].span
	}
	if next > 0 {
		at += removals[next-1].to - removals[next-1].end
	}
	return span{at, at + 1}
}

// inCodePoints converts byte positions, in any order, into code points.
func inCodePoints(text string, mentions []Mention) {
	var places []*int
	for i := range mentions {
		places = append(places, &mentions[i].Start, &mentions[i].End)
	}
	slices.SortFunc(places, func(a, b *int) int { return *a - *b })
	bytes, points := 0, 0
	for _, place := range places {
		points += utf8.RuneCountInString(text[bytes:*place])
		bytes = *place
		*place = points
	}
}

// SentenceAt returns the sentence of a text that has a code point, as code points.
func SentenceAt(text string, place int) (start, end int) {
	for sentence := range Sentences(text) {
		end = start + utf8.RuneCountInString(sentence)
		if place < end {
			break
		}
		start = end
	}
	return start, end
}

// Sentences iterates over the sentences of a text (UAX 29). A line break ends a sentence.
func Sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := text; rest != ""; {
			n := sentenceEnd(rest)
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}
