package extract

import (
	"slices"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
)

// Entity is a brand or a competitor as a record has it.
type Entity = event.Entity

// A Mention is where a text names an entity: code points, from the first to the one after the last. What is no prose
// and stands amid a name is within.
type Mention struct {
	Entity     int // index, the brand first
	Start, End int
}

// Locate gives the mentions that the reader of a version counts, in the order in which they start. A version that this
// build does not carry is read as the present one.
func Locate(version int, text string, brand *Entity, competitors []Entity) []Mention {
	spell := Spelled
	if version == 1 {
		spell = func(name string) string { return name }
	}
	prose, cuts := text, [len(noProse)][]cut{}
	for i, find := range noProse {
		cuts[i] = find(prose)
		prose = without(prose, cuts[i])
	}
	folded, origins := foldFrom(prose)
	var mentions []Mention
	namesOf(brand, competitors, spell).mentions(folded, func(entity, at, end int) {
		first, last := origins[at].from, origins[end-1].to-1
		for _, made := range slices.Backward(cuts[:]) {
			first, last = before(made, first).from, before(made, last).to-1
		}
		mentions = append(mentions, Mention{entity, first, last + 1})
	})
	inCodePoints(text, mentions)
	return mentions
}

// foldFrom folds a text and gives of each byte the part of the text that it is of.
func foldFrom(s string) (folded []byte, origins []cut) {
	var f folder
	for i := 0; i < len(s); {
		part, end := foldFirst(s, i)
		f.putAll(part)
		for len(origins) < len(f.out) {
			origins = append(origins, cut{i, end})
		}
		i = end
	}
	return f.out, origins
}

// before is what a byte of a text without cuts was in the text before: the same byte, or a whole cut.
func before(cuts []cut, at int) cut {
	for _, c := range cuts {
		switch {
		case at < c.from:
			return cut{at, at + 1}
		case at == c.from:
			return c
		}
		at += c.to - c.from - 1
	}
	return cut{at, at + 1}
}

// inCodePoints turns bytes, which may come in any order, into code points.
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

// SentenceAt gives the sentence of a text that a code point is in, as code points (UAX 29). A line break ends one.
func SentenceAt(text string, place int) (start, end int) {
	for text != "" {
		n := sentenceEnd(text)
		end = start + utf8.RuneCountInString(text[:n])
		if place < end {
			break
		}
		text, start = text[n:], end
	}
	return start, end
}
