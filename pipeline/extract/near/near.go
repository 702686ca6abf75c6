// Package near finds text in answers that is near a name of a brand or competitor and is not counted as one: the same
// letters written together or apart ("AcmeCorp", "Acme-Corp" for "Acme Corp"), and one letter more, less or other (a
// typo, a plural, a genitive), of which ø, ł and ı are o, l and i.
//
// Most words that are one letter away from a name are other words. So a name has five letters or more, only one of its
// words differs, by a letter that is neither its first nor a digit ("iPhone 16" is not "iPhone 15"), and if the name
// begins with a capital, so does the text near it, and no answer has that text in lower case.
package near

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/extract"
)

const (
	shortestName = 5    // letters and digits
	shortestWord = 4    // of a name, that may differ
	maxSightings = 2000 // in memory, in lower case too; later ones are left out
	maxRun       = 1024 // words that are compared at once
	maxText      = 100  // bytes of a text near a name
)

// A Name is a text in answers that is near a name or alias.
type Name struct {
	Text    string `json:"text"`
	Answers int    `json:"answers"` // that have it
	Near    string `json:"near"`
	Entity  string `json:"entity"` // the brand or competitor of that name
}

// Finder reads one answer after the other, in bounded memory. The zero value is ready.
type Finder struct {
	names     names // of the last answer's brand
	sightings map[key]*sighting
	answers   int

	words  []word // a run: consecutive words of an answer, with one character between two
	folded []byte // their folded letters, without separators
}

type key struct {
	brand        uuid.UUID
	entity, form string
}

type sighting struct {
	Name
	counted bool // it is a name itself, or part of one
	lower   bool // an answer has it in lower case, and the name has a capital
	last    int  // number of the last answer that has it
}

// A word is letters, marks and digits.
type word struct {
	start, end int // in the text
	from, to   int // in folded
	capital    bool
	respelled  bool // folded has other letters: o for ø
}

// Read reads an answer.
func (f *Finder) Read(a *event.Answer) {
	f.names.use(a)
	f.answers++
	text := extract.Plain(extract.Prose(a.Text))
	for at := 0; at < len(text); {
		r, size := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[at:])
		}
		if inWord(r) {
			at = f.addWord(text, at, r)
			continue
		}
		if !joins(r) || len(f.words) == 0 || f.words[len(f.words)-1].end != at || len(f.words) >= maxRun {
			f.endRun(text)
		}
		at += size
	}
	f.endRun(text)
	if f.names.hasOrdinary {
		f.seeOrdinary(a)
	}
}

// addWord adds the word that begins with r, and returns its end.
func (f *Finder) addWord(text string, start int, r rune) (end int) {
	w := word{start: start, from: len(f.folded), capital: extract.IsCapital(r)}
	ascii := true
	for end = start; end < len(text); {
		if text[end] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !inWord(r) {
				break
			}
			ascii = false
			end += size
			continue
		}
		c := lower[text[end]]
		if c == 0 {
			break
		}
		f.folded = append(f.folded, c)
		end++
	}
	if !ascii {
		fold := extract.Fold(text[start:end])
		f.folded = append(f.folded[:w.from], extract.BaseLetters(fold)...)
		w.respelled = string(f.folded[w.from:]) != fold
	}
	w.end, w.to = end, len(f.folded)
	f.words = append(f.words, w)
	return end
}

// endRun compares the words of a run, and begins the next.
func (f *Finder) endRun(text string) {
	for i, w := range f.words {
		if w.from == w.to {
			continue
		}
		for _, n := range f.names.byFirst[f.folded[w.from]] {
			if words := f.near(n, i, text); words > 0 {
				f.see(n, text, w, f.words[i+words-1].end)
			}
		}
	}
	f.words, f.folded = f.words[:0], f.folded[:0]
}

// near returns how many words from first on are near a name; 0: they are not near, or are the name.
func (f *Finder) near(n *name, first int, text string) int {
	for count := 1; count <= len(n.words)+1 && first+count <= len(f.words); count++ {
		begin, end := f.words[first], f.words[first+count-1]
		if end.to-begin.from > len(n.joined)+utf8.UTFMax {
			break
		}
		switch {
		case string(f.folded[begin.from:end.to]) == n.joined:
			if count == 1 && n.text == n.joined && !begin.respelled ||
				extract.Fold(text[begin.start:end.end]) == n.text {
				return 0
			}
			return count
		case count == len(n.words) && f.differsByALetter(n, first):
			return count
		}
	}
	return 0
}

// differsByALetter reports whether the words from first on differ from a name in a letter of one of them.
func (f *Finder) differsByALetter(n *name, first int) bool {
	differing, got := "", ""
	for i, want := range n.words {
		w := f.words[first+i]
		folded := f.folded[w.from:w.to]
		if string(folded) == want {
			continue
		}
		if differing != "" || len(folded) == 0 || folded[0] != want[0] || !halfEqual(want, folded) {
			return false
		}
		differing, got = want, string(folded)
	}
	return utf8.RuneCountInString(differing) >= shortestWord &&
		levenshtein.ComputeDistance(differing, got) == 1 && digits(differing) == digits(got)
}

// halfEqual reports whether a word begins or ends with half of another, as it does if one letter differs.
func halfEqual(want string, got []byte) bool {
	half := len(want) / 2
	for half < len(want) && !utf8.RuneStart(want[half]) {
		half++
	}
	return bytes.HasPrefix(got, []byte(want[:half])) || bytes.HasSuffix(got, []byte(want[half:]))
}

// see counts a text near a name, once an answer.
func (f *Finder) see(n *name, text string, first word, end int) {
	if end-first.start > maxText || isAddress(text, first.start, end) {
		return
	}
	written := text[first.start:end]
	s := f.sightingOf(n, written)
	if s == nil {
		return
	}
	switch {
	case n.capital && !first.capital:
		s.lower = true
	case s.last != f.answers:
		if s.Answers == 0 {
			s.Text = strings.Clone(written)
		}
		s.last = f.answers
		s.Answers++
	}
}

// sightingOf returns the sighting of a text near a name; nil if there are too many.
func (f *Finder) sightingOf(n *name, written string) *sighting {
	k := key{f.names.answer.Brand.ID, n.entity, extract.Fold(written)}
	s := f.sightings[k]
	if s == nil && len(f.sightings) < maxSightings {
		if f.sightings == nil {
			f.sightings = map[key]*sighting{}
		}
		near := Name{Text: strings.Clone(written), Near: n.written, Entity: n.entity}
		s = &sighting{Name: near, counted: k.form != n.text && f.names.has(written, k.form)}
		f.sightings[k] = s
	}
	return s
}

// seeOrdinary counts the answers that have a name as an ordinary word, which is not counted as the name.
func (f *Finder) seeOrdinary(a *event.Answer) {
	entities := append([]event.Entity{a.Brand.Entity}, a.Competitors...)
	for entity, words := range extract.LeftOut(a) {
		for _, word := range words {
			i := slices.IndexFunc(f.names.all, func(n *name) bool {
				return n.text == word && n.entity == entities[entity].Name
			})
			if i < 0 {
				continue
			}
			if s := f.sightingOf(f.names.all[i], word); s != nil {
				s.Answers++
			}
		}
	}
}

// Names returns at most limit names, the ones of most answers first. A text that is near a name for several brands is
// one, with the most answers of any.
func (f *Finder) Names(limit int) []Name {
	byForm := map[[2]string]Name{}
	for k, s := range f.sightings {
		at := [2]string{k.entity, k.form}
		if !s.counted && !s.lower && s.Answers > byForm[at].Answers {
			byForm[at] = s.Name
		}
	}
	all := make([]Name, 0, len(byForm))
	for _, n := range byForm {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Entity, b.Entity))
	})
	return all[:min(len(all), limit)]
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return lower[r] != 0
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// lower has the letters and digits of ASCII, folded; 0 is none.
var lower = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[c] = byte(unicode.ToLower(r))
		}
	}
	return table
}()

// joins reports whether two words with r between them may be one name.
func joins(r rune) bool { return r == ' ' || strings.ContainsRune("\u00a0-'.&+", r) }

// isAddress reports whether the text from start to end is part of a host, a path or an email address.
func isAddress(text string, start, end int) bool {
	if start > 0 && strings.IndexByte("./@_", text[start-1]) >= 0 {
		return true
	}
	rest := text[end:]
	if rest == "" {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest[1:])
	return strings.IndexByte("/@_", rest[0]) >= 0 || rest[0] == '.' && len(rest) > 1 && inWord(next)
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// names has the names of a brand and its competitors, ready for search.
type names struct {
	answer event.Answer // with only the brand and its competitors
	all    []*name
	// hasOrdinary is set if a name is an ordinary word, which some answers have in lower case.
	hasOrdinary bool
	byFirst     [256][]*name // of five letters or more, by the first byte of joined
}

// A name is a name or alias, in one spelling of its umlauts.
type name struct {
	entity, written string
	text            string   // folded
	words           []string // of text, in base letters
	joined          string   // words without separators
	capital         bool     // it begins with one
}

// use prepares the names of an answer's brand, unless the previous answer had the same.
func (n *names) use(a *event.Answer) {
	if n.answer.Brand.ID == a.Brand.ID && n.answer.Brand.Revision == a.Brand.Revision && len(n.all) > 0 {
		return
	}
	*n = names{answer: event.Answer{Brand: a.Brand, Competitors: a.Competitors}}
	for _, entity := range append([]event.Entity{a.Brand.Entity}, a.Competitors...) {
		for _, written := range append([]string{entity.Name}, entity.Aliases...) {
			for _, spelling := range append([]string{written}, extract.Spellings(written)...) {
				n.add(entity.Name, written, spelling)
			}
		}
	}
}

func (n *names) add(entity, written, spelled string) {
	text := strings.TrimSpace(extract.Fold(spelled))
	notInWord := func(r rune) bool { return !inWord(r) }
	one := &name{entity: entity, written: written, text: text}
	one.words = strings.FieldsFunc(extract.BaseLetters(text), notInWord)
	one.joined = strings.Join(one.words, "")
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(spelled, notInWord))
	one.capital = extract.IsCapital(first)
	n.all = append(n.all, one)
	n.hasOrdinary = n.hasOrdinary || one.capital && extract.IsOrdinary(text)
	if utf8.RuneCountInString(one.joined) >= shortestName {
		n.byFirst[one.joined[0]] = append(n.byFirst[one.joined[0]], one)
	}
}

// has reports whether a text names the brand or a competitor, or is part of a name of theirs.
func (n *names) has(text, folded string) bool {
	a := n.answer
	a.Text = text
	reading := extract.Read(&a)
	named := func(e extract.EntityReading) bool { return e.Mentions > 0 }
	if named(reading.Brand) || slices.ContainsFunc(reading.Competitors, named) {
		return true
	}
	return slices.ContainsFunc(n.all, func(one *name) bool {
		return strings.Contains(" "+one.text+" ", " "+folded+" ")
	})
}
