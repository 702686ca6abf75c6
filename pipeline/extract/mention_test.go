package extract

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

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
		":", "·", "J.", "Crew", "J. ", "&", " & ", "*", "De", "'L", "و", "وApple", "سوني", "ي",
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
		p := current.passageOf(text, false)
		current.namesOf(&brand, competitors).mentions(&p, func(entity, at, _ int, is kind) {
			if is == counts {
				got = append(got, occurrence{entity, at})
			}
		})
		entities := append([]*event.Entity{&brand}, pointers(competitors)...)
		var want []occurrence
		for entity, e := range entities {
			for _, at := range scan(text, e, slices.DeleteFunc(slices.Clone(entities), func(other *event.Entity) bool {
				return other == e
			})) {
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

// foldedNames are the names of an entity in all spellings, the longest first, whether each is a domain, and the number
// of the name that each is a spelling of; of several, one without capitals.
func foldedNames(e *event.Entity) (names []string, isDomain map[string]bool, number map[string]int) {
	isDomain, number = map[string]bool{}, map[string]int{}
	for _, domain := range e.Domains {
		name := strings.TrimPrefix(domain, "www.")
		isDomain[name], number[name] = true, 0
		names = append(names, name)
	}
	written := append([]string{e.Name}, e.Aliases...)
	for _, isLower := range []bool{true, false} {
		for n, name := range written {
			if isLower == strings.ContainsFunc(name, unicode.IsUpper) {
				continue
			}
			for _, spelling := range append(Spellings(name), name) {
				folded := strings.Trim(Fold(spelling), " ")
				if _, ok := number[folded]; !ok {
					number[folded] = n
				}
				names = append(names, folded)
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.SortStableFunc(names, func(a, b string) int { return len([]rune(b)) - len([]rune(a)) })
	return names, isDomain, number
}

var joint = regexp.MustCompile(`[ \-'.&]+`)

// spellingsOf matches a name however its words are joined.
func spellingsOf(name string) *regexp.Regexp {
	form, end := "", 0
	for _, at := range joint.FindAllStringIndex(name, -1) {
		if at[0] == 0 || at[1] == len(name) {
			continue
		}
		word, between, after := name[end:at[0]], name[at[0]:at[1]], name[at[1]:]
		signs := strings.Split(strings.ReplaceAll(between, " ", ""), "")
		for i := range signs {
			signs[i] = regexp.QuoteMeta(signs[i])
		}
		alike := []string{" ?" + strings.Join(signs, " ?") + " ?"}
		if len(signs) == 0 {
			alike = []string{" "}
		}
		if !regexp.MustCompile(`^s(?:[ \-'.&]|$)`).MatchString(after) {
			if strings.Contains(" -'", between) && len(between) == 1 {
				alike = append(alike, "[ '-]")
			}
			if strings.Trim(between, " .") == "" && utf8.RuneCountInString(strings.TrimLeft(word, " -'.&")) <= 2 {
				alike = append(alike, "[ .]{1,4}")
			}
		}
		form += regexp.QuoteMeta(word) + "(?:" + strings.Join(alike, "|") + ")"
		end = at[1]
	}
	return regexp.MustCompile("^(?:" + form + regexp.QuoteMeta(name[end:]) + ")")
}

// beside is what may stand between two names of one mention.
var beside = regexp.MustCompile(`^(?:-|[ *_]*)$`)

// scan gives the bytes where mentions of e start.
func scan(text string, e *event.Entity, others []*event.Entity) (starts []int) {
	names, isDomain, number := foldedNames(e)
	another := map[string]bool{}
	for _, other := range others {
		theirs, _, _ := foldedNames(other)
		for _, name := range theirs {
			another[name] = true
		}
	}
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
	place := func(i int) int { return len(string(runes[:i])) }
	first, last, lastEnd := 0, 0, -1 // names of the last mention, and its end
	for i := 0; i < len(runes); {
		length := 0
		for _, name := range names {
			written := name
			if !strings.HasPrefix(text[place(i):], name) {
				if written = spellingsOf(name).FindString(text[place(i):]); isDomain[name] || another[written] {
					continue
				}
			}
			end := i + len([]rune(written))
			joined := len([]rune(name)) > 2 && i > 0 && runes[i-1] == 'و' && (boundaries[i-1] || outside(i-1))
			if written == "" || !boundaries[i] && !outside(i) && !joined {
				continue
			}
			if boundaries[end] || outside(end) || unicode.Is(unicode.Hangul, runes[end]) && runes[end] >= 0xAC00 {
				length = end - i
				if lastEnd < 0 || number[name] == first || number[name] == last ||
					!beside.MatchString(string(runes[lastEnd:i])) {
					starts = append(starts, place(i))
					first = number[name]
				}
				last, lastEnd = number[name], end
				break
			}
		}
		i += max(length, 1)
	}
	return starts
}

// Any text and name: no panic, no mention outside the text, and mentions of one entity from left to right.
func FuzzMentions(f *testing.F) {
	f.Add("Apple's Apples", "Apple", "apple.com", "Dell")
	f.Add("Ap\u00adple® Apple\u200bWatch\ufe0f", "Apple® Watch", "Ap\u200dple", "Øre")
	f.Add("De Longhi, J. Crew and samsung galaxy; Away, away", "De'Longhi", "J.Crew", "Away")
	f.Add("अअा苹果アップル삼성은", "ा", "苹", "삼성")
	f.Fuzz(func(t *testing.T, text, name, alias, other string) {
		brand := event.Entity{Name: name, Aliases: []string{alias}}
		competitors := []event.Entity{{Name: other, Domains: []string{alias}}}
		folded := Fold(text)
		next := make([]int, 2)
		p := current.passageOf(text, false)
		current.namesOf(&brand, competitors).mentions(&p, func(entity, at, _ int, _ kind) {
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
