package extract

import (
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
)

// Entity is a brand or a competitor as a record has it.
type Entity = event.Entity

// A Mention is where a text names an entity: code points, from the first to the one after the last. What Prose removes
// from the middle of a name is part of the mention.
type Mention struct {
	Entity     int // index, the brand first
	Start, End int
}

// Locate gives the mentions that the reader of a version counts, in the order in which they start. A version that this
// build does not carry is read as the present one. It takes time linear in the text, but for a search per mention.
func Locate(version int, text string, brand *Entity, competitors []Entity) []Mention {
	spell := Spelled
	if version == 1 {
		spell = func(name string) string { return name }
	}
	prose, removed := text, [len(noProse)][]removal{}
	for i, find := range noProse {
		cuts := find(prose)
		prose, removed[i] = without(prose, cuts), removals(cuts)
	}
	folded, origins := foldFrom(prose)
	var mentions []Mention
	namesOf(brand, competitors, spell).mentions(folded, func(entity, at, end int) {
		first, last := originOf(origins, at).from, originOf(origins, end-1).to-1
		for _, made := range slices.Backward(removed[:]) {
			first, last = before(made, first).from, before(made, last).to-1
		}
		mentions = append(mentions, Mention{entity, first, last + 1})
	})
	inCodePoints(text, mentions)
	return mentions
}

// An origin says what part of a text the bytes from at on of the folded text are of: all of the same part, or each of
// the byte after the one before it, beginning with the part.
type origin struct {
	at int
	cut
	bytewise bool
}

// foldFrom folds a text and gives the origins of the result in their order.
func foldFrom(s string) (folded []byte, origins []origin) {
	var f folder
	next := -1 // the byte of s that continues the last origin
	for i := 0; i < len(s); {
		part, end := foldFirst(s, i)
		at := len(f.out)
		f.putAll(part)
		made := len(f.out) - at
		bytewise := made == 1 && end == i+1
		if made > 0 && !(bytewise && i == next) {
			origins = append(origins, origin{at, cut{i, end}, bytewise})
		}
		if next = -1; bytewise {
			next = end
		}
		i = end
	}
	return f.out, origins
}

// originOf is the part of the text that a byte of the folded text is of.
func originOf(origins []origin, at int) cut {
	o := origins[sort.Search(len(origins), func(i int) bool { return origins[i].at > at })-1]
	if o.bytewise {
		return cut{o.from + at - o.at, o.from + at - o.at + 1}
	}
	return o.cut
}

// A removal is a cut, and where the text without cuts has its space.
type removal struct {
	cut
	at int
}

func removals(cuts []cut) []removal {
	made, shorter := make([]removal, len(cuts)), 0
	for i, c := range cuts {
		made[i] = removal{c, c.from - shorter}
		shorter += c.to - c.from - 1
	}
	return made
}

// before is what a byte of a text without cuts was in the text before: the same byte, or a whole cut.
func before(made []removal, at int) cut {
	next := sort.Search(len(made), func(i int) bool { return made[i].at >= at })
	if next < len(made) && made[next].at == at {
		return made[next].cut
	}
	if next > 0 {
		at += made[next-1].to - made[next-1].at - 1
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
