package naive

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// A passage is a text that is searched for names: its folded characters, and what folding hides of each.
type passage struct {
	text     string
	capital  []bool       // the character was a capital
	newLine  []bool       // a line ended before it, or it is the space for a line's end
	sentence []int        // number of its sentence, which is a line at most
	capitals map[int]bool // sentences that have any
	boundary map[int]bool
}

// Characters of private use that stand before what folding hides.
const (
	capitalMark  = '\ue000'
	lineMark     = '\ue001'
	sentenceMark = '\ue002'
)

// passageOf reads a text. Marks are put before capitals, ends of lines and sentences, and taken out when it is folded.
func passageOf(text string) passage {
	var marked strings.Builder
	for state := -1; text != ""; {
		var sentence string
		sentence, text, state = uniseg.FirstSentenceInString(text, state)
		marked.WriteRune(sentenceMark)
		for _, r := range sentence {
			switch {
			case unicode.IsUpper(r) || unicode.IsTitle(r):
				marked.WriteRune(capitalMark)
			case strings.ContainsRune("\n\v\f\r\u0085\u2028\u2029", r):
				marked.WriteRune(lineMark)
			}
			marked.WriteRune(r)
		}
	}
	p := passage{capitals: map[int]bool{}}
	isCapital, isNewLine, sentence := false, false, 0
	var plain []byte
	for _, r := range folded(marked.String()) {
		switch {
		case r == capitalMark:
			isCapital = true
			continue
		case r == lineMark:
			isNewLine = true
			continue
		case r == sentenceMark:
			sentence++
			continue
		case r == ' ' && len(plain) > 0 && plain[len(plain)-1] == ' ':
			continue
		}
		plain = utf8.AppendRune(plain, r)
		for range utf8.RuneLen(r) {
			p.capital, p.newLine = append(p.capital, isCapital), append(p.newLine, isNewLine)
			p.sentence = append(p.sentence, sentence)
		}
		p.capitals[sentence] = p.capitals[sentence] || isCapital
		isCapital, isNewLine = false, false
	}
	p.text = string(plain)
	p.boundary = boundaries(p.text)
	return p
}

// A spelling is one that a name has.
type spelling struct {
	text                  string
	name                  int            // its number
	joined                *regexp.Regexp // however its words are joined; nil of domains
	isCapital, isOrdinary bool
}

// mentions counts where a text names an entity by its names, aliases and domains, and where the first mention starts.
func mentions(p passage, e event.Entity, others []event.Entity) (count, first int) {
	names := spellingsOf(e)
	another := map[string]bool{}
	for _, other := range others {
		for _, s := range spellingsOf(other) {
			another[s.text] = true
		}
	}
	first = len(p.text)
	firstName, lastName, lastEnd := 0, 0, -1
	for start := 0; start < len(p.text); {
		s, end, ok := p.nameAt(start, names, another)
		if !ok {
			start++
			continue
		}
		beside := lastEnd >= 0 && besides.MatchString(p.text[lastEnd:start]) &&
			!slices.Contains(p.newLine[lastEnd:start+1], true)
		if !beside || s.name == firstName || s.name == lastName {
			count++
			firstName = s.name
			first = min(first, start)
		}
		lastName, lastEnd, start = s.name, end, end
	}
	return count, first
}

// besides is what may stand between two names of one mention.
var besides = regexp.MustCompile(`^(-|[ *_]*)$`)

// nameAt is the longest name at a place that counts.
func (p passage) nameAt(start int, names []spelling, another map[string]bool) (s spelling, end int, ok bool) {
	if !utf8.RuneStart(p.text[start]) {
		return s, 0, false
	}
	for _, s := range names {
		written, exact := s.text, strings.HasPrefix(p.text[start:], s.text)
		if !exact {
			if s.joined == nil {
				continue
			}
			if written = s.joined.FindString(p.text[start:]); written == "" || another[written] {
				continue
			}
		}
		end := start + len(written)
		before, size := utf8.DecodeLastRuneInString(p.text[:start])
		begins := isEdge(p.text, start, p.boundary) ||
			before == 'و' && isEdge(p.text, start-size, p.boundary) && utf8.RuneCountInString(s.text) > 2
		if !begins || !isEdge(p.text, end, p.boundary) && !hangulAt(p.text, end) {
			continue
		}
		if (s.isOrdinary || !exact && s.isCapital) && p.isLower(start, end) {
			continue
		}
		return s, end, true
	}
	return s, 0, false
}

// isLower says whether a sentence with capitals has this without one, and in no address or handle.
func (p passage) isLower(start, end int) bool {
	if slices.Contains(p.capital[start:end], true) || !p.capitals[p.sentence[start]] {
		return false
	}
	rest := p.text[end:]
	isHost := len(rest) > 1 && rest[0] == '.' && rest[1] < utf8.RuneSelf && inWord(rune(rest[1])) && !p.capital[end+1]
	return !isHost && !strings.HasSuffix(p.text[:start], "@") && !strings.HasSuffix(p.text[:start], "/")
}

var spellingsByNames sync.Map

// spellingsOf are all spellings of an entity's names, the longest first, each once.
func spellingsOf(e event.Entity) (all []spelling) {
	key := fmt.Sprintf("%q %q %q", e.Name, e.Aliases, e.Domains)
	if all, ok := spellingsByNames.Load(key); ok {
		return all.([]spelling)
	}
	defer func() { spellingsByNames.Store(key, all) }()
	add := func(name int, written string) {
		text := strings.Trim(fold(seen(written)), " ")
		s := spelling{text: text, name: name, joined: joined(text)}
		s.isCapital = strings.ContainsFunc(seen(written), unicode.IsUpper)
		s.isOrdinary = s.isCapital && ordinary(text)
		if text != "" && !slices.ContainsFunc(all, func(other spelling) bool { return other.text == text }) {
			all = append(all, s)
		}
	}
	for _, domain := range owned(e.Domains) {
		if domain != "" {
			all = append(all, spelling{text: domain})
		}
	}
	for _, capital := range []bool{false, true} { // of names that fold alike, one without capitals counts
		for n, name := range append([]string{e.Name}, e.Aliases...) {
			for _, other := range spellings(name) {
				if strings.ContainsFunc(seen(other), unicode.IsUpper) == capital {
					add(n, other)
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b spelling) int {
		return utf8.RuneCountInString(b.text) - utf8.RuneCountInString(a.text)
	})
	return all
}

var (
	joint    = regexp.MustCompile(`[ \-'.&]+`)
	genitive = regexp.MustCompile(`^s([ \-'.&]|$)`)
)

// joined matches a name however its words are joined: a blank, a hyphen and an apostrophe are alike but before the s of
// a genitive, a full stop may be missing after one or two letters, blanks beside signs are free.
func joined(name string) *regexp.Regexp {
	if !joint.MatchString(name) {
		return nil
	}
	form, end := "", 0
	for _, at := range joint.FindAllStringIndex(name, -1) {
		if at[0] == 0 || at[1] == len(name) {
			continue
		}
		word, between := name[end:at[0]], name[at[0]:at[1]]
		alike := []string{" "}
		if signs := strings.ReplaceAll(between, " ", ""); signs != "" {
			alike[0] = " ?"
			for _, sign := range signs {
				alike[0] += regexp.QuoteMeta(string(sign)) + " ?"
			}
		}
		if !genitive.MatchString(name[at[1]:]) {
			switch between {
			case " ", "-", "'":
				alike = append(alike, "[ '-]")
			}
			if strings.Trim(between, ". ") == "" && utf8.RuneCountInString(joint.ReplaceAllString(word, "")) <= 2 {
				alike = append(alike, "[. ]{1,4}")
			}
		}
		form += regexp.QuoteMeta(word) + "(?:" + strings.Join(alike, "|") + ")"
		end = at[1]
	}
	return regexp.MustCompile("^" + form + regexp.QuoteMeta(name[end:]))
}

var words = sync.OnceValue(func() map[string]bool {
	root := "."
	for _, err := os.Stat(root + "/go.mod"); err != nil; _, err = os.Stat(root + "/go.mod") {
		root += "/.."
	}
	text, err := os.ReadFile(root + "/pipeline/extract/lists/words.txt")
	if err != nil {
		panic(err)
	}
	words := map[string]bool{}
	for word := range strings.FieldsSeq(string(text)) {
		words[word] = true
	}
	return words
})

// ordinary says whether a name is one English word, of the list of words or with an ending.
func ordinary(name string) bool {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		return false
	}
	for _, ending := range []string{"", "s", "es", "d", "ed", "r", "er", "rs", "ers", "ing", "ly"} {
		base, ends := strings.CutSuffix(name, ending)
		if ends && (words()[base] || ending == "ing" && words()[base+"e"]) {
			return true
		}
	}
	return false
}

// spellings are a name in all its spellings: as written, and as keyboards without umlauts or without further letters of
// the Latin alphabet write it.
func spellings(name string) []string {
	replaced := func(name string, letters ...string) string {
		for i := 0; i < len(letters); i += 2 {
			name = strings.ReplaceAll(name, letters[i], letters[i+1])
			name = strings.ReplaceAll(name, strings.ToUpper(letters[i]), strings.ToUpper(letters[i+1]))
		}
		return name
	}
	plain := func(name string) string {
		name = strings.ReplaceAll(name, "ı", "i") // whose capital is I
		return replaced(name, "ø", "o", "æ", "ae", "œ", "oe", "ł", "l", "đ", "d", "ð", "d", "ħ", "h", "ŧ", "t",
			"þ", "th")
	}
	composed := norm.NFC.String(name)
	umlauts := replaced(composed, "ä", "ae", "ö", "oe", "ü", "ue")
	return []string{name, umlauts, plain(composed), plain(replaced(umlauts, "ø", "oe"))}
}

// isEdge says whether a name may end or begin at byte at.
func isEdge(text string, at int, boundary map[int]bool) bool {
	if boundary[at] {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return !inWord(before) || !inWord(after)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

func hangulAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return r >= 0xac00 && r <= 0xd7a3
}

// boundaries are the word boundaries of UAX 29, as bytes.
func boundaries(text string) map[int]bool {
	at, state := 0, -1
	found := map[int]bool{0: true}
	for rest := text; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		at += len(word)
		found[at] = true
	}
	return found
}
