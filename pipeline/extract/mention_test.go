package extract

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/answerscope/answerscope/ingest/event"
)

type occurrence struct{ entity, at int }

// The search finds what a scan by the rule's own words finds, which asks at every character for every name of every
// entity and parts the whole text into words.
func TestMentionsAreTheRules(t *testing.T) {
	pool := []string{
		"Apple", "apple", "Apple Watch", "Watch", "apple.com", ".com", "app", "le", "s", "'s", "2", "é", "e\u0301", "ß",
		"ss",
		"-", "_", ".", ",", "!", "'", "’", "(", "[HP]", "C++", "+", ".NET", "ASP", "Yahoo!", "™", "®", "`",
		"\u200d", "\u200b",
		"\u00ad", "\u20dd",
		"苹果", "果", "手机", "アップル", "ップ", "の", "삼성", "은", "성", "แอป", "ิ", "ป", "हि", "दी", "א", "\"", "ב", "🏆", "🇩", "\n",
		":", "·",
	}
	name := rapid.Custom(func(t *rapid.T) string { return drawText(t, pool, 3) })
	rapid.Check(t, func(t *rapid.T) {
		var brand event.Entity
		competitors := make([]event.Entity, rapid.IntRange(0, 2).Draw(t, "competitors"))
		for _, e := range append([]*event.Entity{&brand}, pointers(competitors)...) {
			e.Name = name.Draw(t, "name")
			e.Aliases = rapid.SliceOfN(name, 0, 3).Draw(t, "aliases")
			e.Domains = rapid.SliceOfN(rapid.SampledFrom([]string{"apple.com", "www.app.com"}), 0, 1).Draw(t, "domains")
		}
		text := Fold(drawText(t, pool, 20))

		var got []occurrence
		current.namesOf(&brand, competitors).mentions([]byte(text), func(entity, at, _ int) {
			got = append(got, occurrence{entity, at})
		})
		var want []occurrence
		for entity, e := range append([]*event.Entity{&brand}, pointers(competitors)...) {
			for _, at := range scan(text, e) {
				want = append(want, occurrence{entity, at})
			}
		}
		slices.SortFunc(want, func(a, b occurrence) int {
			if a.at != b.at {
				return a.at - b.at
			}
			return a.entity - b.entity
		})
		if !slices.Equal(got, want) {
			t.Fatalf("mentions in %+q of %+q are %v, want %v", text,
				append([]event.Entity{brand}, competitors...), got, want)
		}
	})
}

func pointers(entities []event.Entity) []*event.Entity {
	all := make([]*event.Entity, len(entities))
	for i := range entities {
		all[i] = &entities[i]
	}
	return all
}

// scan gives the bytes where mentions of e start.
func scan(text string, e *event.Entity) (starts []int) {
	names := append([]string{e.Name}, e.Aliases...)
	for _, domain := range e.Domains {
		names = append(names, strings.TrimPrefix(domain, "www."))
	}
	for i := range names {
		names[i] = strings.Trim(Fold(names[i]), " ")
	}
	slices.SortStableFunc(names, func(a, b string) int { return len([]rune(b)) - len([]rune(a)) })

	runes := []rune(text)
	boundaries := map[int]bool{0: true} // of words, in runes
	for rest, at, state := text, 0, -1; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		at += len([]rune(word))
		boundaries[at] = true
	}
	outside := func(i int) bool { // beside a character that is no letter, mark or digit
		for _, beside := range runes[max(i-1, 0):min(i+1, len(runes))] {
			if !unicode.In(beside, unicode.L, unicode.M, unicode.Nd) {
				return true
			}
		}
		return false
	}
	for i := 0; i < len(runes); {
		length := 0
		for _, name := range names {
			end := i + len([]rune(name))
			if name == "" || end > len(runes) || string(runes[i:end]) != name || !boundaries[i] && !outside(i) {
				continue
			}
			if boundaries[end] || outside(end) || unicode.Is(unicode.Hangul, runes[end]) && runes[end] >= 0xAC00 {
				length = end - i
				break
			}
		}
		if length > 0 {
			starts = append(starts, len(string(runes[:i])))
		}
		i += max(length, 1)
	}
	return starts
}

// Any text and name: no panic, no mention outside the text, and mentions of one entity from left to right.
func FuzzMentions(f *testing.F) {
	f.Add("Apple's Apples", "Apple", "apple.com", "Dell")
	f.Add("Ap\u00adple® Apple\u200bWatch\ufe0f", "Apple® Watch", "Ap\u200dple", "Øre")
	f.Add("अअा苹果アップル삼성은", "ा", "苹", "삼성")
	f.Fuzz(func(t *testing.T, text, name, alias, other string) {
		brand := event.Entity{Name: name, Aliases: []string{alias}}
		competitors := []event.Entity{{Name: other, Domains: []string{alias}}}
		folded := Fold(text)
		next := make([]int, 2)
		current.namesOf(&brand, competitors).mentions([]byte(folded), func(entity, at, _ int) {
			if at < next[entity] || at >= len(folded) {
				t.Errorf("mention of %d at %d of %+q after %d", entity, at, folded, next[entity])
			}
			next[entity] = at + 1
		})
	})
}

// A brand with many competitors of many names is read in a time that does not depend on their number alone: a name is
// looked at only where a word begins with its first byte.
func BenchmarkManyNames(b *testing.B) {
	a := typical("de", germanParagraphs...)
	for i := range 200 {
		e := event.Entity{ID: id(i), Name: "Competitor" + string(rune('a'+i%26))}
		for j := range 10 {
			e.Aliases = append(e.Aliases, strings.Repeat(string(rune('a'+j)), 1+i%7)+" alias")
		}
		a.Competitors = append(a.Competitors, e)
	}
	b.ReportAllocs()
	for b.Loop() {
		Read(a)
	}
}
