package name

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// What follows computes names again, plainly: it keeps every word and every gap as text, and reads all answers anew for
// each thing that it counts.

var (
	naiveUnseen = regexp.MustCompile(`[\x{AD}\x{200B}-\x{200F}\x{2060}\x{FEFF}\x{FE00}-\x{FE0F}]`)
	naiveSigns  = `[®©\x{2122}\x{2120}\x{B2}\x{B3}\x{B9}\x{2070}-\x{209C}\x{2460}-\x{24FF}]+`
	naiveInside = regexp.MustCompile(naiveSigns + `([\pL\pN])`)
	naiveSign   = regexp.MustCompile(naiveSigns)
	naiveAlike  = strings.NewReplacer("‘", "'", "’", "'", "ʼ", "'", "´", "'", "`", "'", "′", "'", "\u2010", "-",
		"\u2011", "-", "\u2012", "-", "–", "-", "\u2212", "-")
	naiveWord   = regexp.MustCompile(`[\pL\pN]+(?:['&+-][\pL\pN]+|\.(?:[a-z\pN]|[^\x00-\x7F\PL])[\pL\pN]*)*\+?`)
	naiveOpens  = regexp.MustCompile(`\n[^\pL\pN_\n]*$|(?:\*\*|__|\[|\||#)[^\pL\pN_\n:.,]*$`)
	naiveCloses = regexp.MustCompile(`^[ \t]*(?:\*\*|__|\]|\||:|\$|\(|\n|[–—-] |$)`)
	naiveDigits = regexp.MustCompile(`^\d+$`)
)

type (
	naiveToken  struct{ word, gap string } // a word and what stands before it
	naivePhrase struct {
		answer       int
		words, folds []string
		leads, fills bool
	}
	naiveName struct {
		answers, leading, beside, filled map[int]bool
		prompts                          map[uuid.UUID]bool
		platforms, next                  map[string]bool
		spellings                        map[string]int
		uses, leads, bare                int
	}
)

// naivePlain replaces signs of trade before words by a space, and drops the others and what nobody sees.
func naivePlain(text string) string {
	text = naiveInside.ReplaceAllString(naiveUnseen.ReplaceAllString(text, ""), " $1")
	return naiveAlike.Replace(naiveSign.ReplaceAllString(text, ""))
}

func naiveTokens(text string) (tokens []naiveToken) {
	text = "\n" + naivePlain(text)
	end := 0
	for _, at := range naiveWord.FindAllStringIndex(text, -1) {
		word := strings.TrimSuffix(text[at[0]:at[1]], "'s")
		tokens = append(tokens, naiveToken{word, text[end:at[0]]})
		end = at[0] + len(word)
	}
	return append(tokens, naiveToken{"", text[end:]})
}

func naiveCapital(word string) bool { return strings.ContainsFunc(word, unicode.IsUpper) }

func naiveDigit(word string) bool { return word != "" && naiveDigits.MatchString(word[:1]) }

func letters(word string) (n int) {
	for _, r := range word {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

func naiveRun(tokens []naiveToken, i int) (run [runWords]string) {
	for j := range run {
		run[j] = tokens[i+j].word
	}
	return run
}

// naiveShared reports for each word of each answer whether a platform writes it under most of its answers.
func naiveShared(answers []Answer, texts [][]naiveToken) (shared [][]bool) {
	common := map[[runWords]string]bool{}
	for _, platform := range []string{"a", "b"} {
		mine, prompts, counts := 0, map[uuid.UUID]bool{}, map[[runWords]string]int{}
		for n, a := range answers {
			if a.Platform != platform {
				continue
			}
			mine++
			prompts[a.PromptID] = true
			seen := map[[runWords]string]bool{}
			for i := range len(texts[n]) - runWords {
				seen[naiveRun(texts[n], i)] = true
			}
			for run := range seen {
				counts[run]++
			}
		}
		for run, count := range counts {
			common[run] = common[run] || len(prompts) >= 10 && 2*count > mine
		}
	}
	for _, text := range texts {
		marks := make([]bool, len(text))
		for i := range len(text) - runWords {
			for j := i; common[naiveRun(text, i)] && j < i+runWords; j++ {
				marks[j] = true
			}
		}
		shared = append(shared, marks)
	}
	return shared
}

// naiveCases returns the answers that have a word in lower case, and those that have it in capitals which no sentence
// asks for.
func naiveCases(texts [][]naiveToken, shared [][]bool) (lower, amid map[string]map[int]bool) {
	lower, amid = map[string]map[int]bool{}, map[string]map[int]bool{}
	add := func(to map[string]map[int]bool, word string, answer int) {
		word = extract.Fold(word)
		if to[word] == nil {
			to[word] = map[int]bool{}
		}
		to[word][answer] = true
	}
	for n, text := range texts {
		for i := range len(text) - 1 {
			next := text[i+1]
			switch {
			case shared[n][i]:
			case !naiveCapital(text[i].word):
				add(lower, text[i].word, n)
			case i > 0 && text[i].gap == " " && !naiveCapital(text[i-1].word),
				next.gap == " " && (naiveCapital(next.word) || naiveDigit(next.word)):
				add(amid, text[i].word, n)
			}
		}
	}
	return lower, amid
}

func naivePhrases(texts [][]naiveToken, shared [][]bool, isGeneric func(word string) bool) (phrases []naivePhrase) {
	for n, text := range texts {
		for i := 0; i < len(text)-1; {
			if shared[n][i] || !naiveCapital(text[i].word) {
				i++
				continue
			}
			j := i + 1
			for j < len(text)-1 && !shared[n][j] && text[j].gap == " " &&
				(naiveCapital(text[j].word) || naiveDigit(text[j].word)) {
				j++
			}
			p := naivePhrase{answer: n}
			for _, token := range text[i:j] {
				if len(p.words) > 0 || !isGeneric(extract.Fold(token.word)) {
					p.words, p.folds = append(p.words, token.word), append(p.folds, extract.Fold(token.word))
				}
			}
			before, after := text[i].gap, text[j].gap
			if i > 0 && naiveDigits.MatchString(text[i-1].word) &&
				(strings.HasPrefix(before, ")") || strings.HasPrefix(before, ".")) {
				before = text[i-1].gap + before
			}
			opens := len(p.words) == j-i && naiveOpens.MatchString(before)
			closes := naiveCloses.MatchString(after)
			p.fills = opens && closes
			p.leads = opens || strings.HasPrefix(after, ":") || strings.HasPrefix(after, "$") ||
				strings.HasSuffix(before, ": ") && closes
			if len(p.words) > 0 {
				phrases = append(phrases, p)
			}
			i = j
		}
	}
	return phrases
}

// naiveLength returns how many words of a phrase are its name.
func naiveLength(folds []string, phrases []naivePhrase, lower map[string]map[int]bool) (length int) {
	for length = 1; length < min(3, len(folds)); length++ {
		here, longer, next := map[int]bool{}, map[int]bool{}, map[string]bool{}
		for _, p := range phrases {
			if len(p.folds) < length || !slices.Equal(p.folds[:length], folds[:length]) {
				continue
			}
			here[p.answer] = true
			if len(p.folds) > length && p.folds[length] == folds[length] {
				longer[p.answer] = true
				if len(p.folds) > length+1 {
					next[p.folds[length+1]] = true
				}
			}
		}
		weak := length == 1 && (utf8.RuneCountInString(folds[0]) <= 2 || len(lower[folds[0]]) > 0) &&
			5*len(longer) >= 4*len(here)
		always := len(longer) == len(here) && len(next) >= 2 && !strings.ContainsAny(folds[length], "0123456789")
		if !weak && !always {
			break
		}
	}
	return length
}

func naiveNames(tracked []string, answers []Answer) (names []Name) {
	answers = slices.DeleteFunc(slices.Clone(answers), func(a Answer) bool { return a.Language != "en" })
	var texts [][]naiveToken
	asked := map[string]bool{}
	for _, a := range answers {
		texts = append(texts, naiveTokens(extract.Prose(a.Text)))
		for _, token := range naiveTokens(a.Prompt) {
			if !naiveCapital(token.word) {
				asked[extract.Fold(token.word)] = true
			}
		}
	}
	shared := naiveShared(answers, texts)
	lower, amid := naiveCases(texts, shared)
	phrases := naivePhrases(texts, shared, func(word string) bool {
		return asked[word] || need.Stop[word] ||
			slices.Contains(strings.Fields(plainList), word) || letters(word) < 2 ||
			naiveDigit(word) && letters(word) < 3 ||
			4*len(lower[word]) > len(lower[word])+len(amid[word])
	})
	found := map[string]*naiveName{}
	for _, p := range phrases {
		if slices.ContainsFunc(tracked, func(name string) bool {
			return strings.Contains(" "+strings.Join(p.folds, " ")+" ", " "+name+" ")
		}) {
			continue
		}
		length := naiveLength(p.folds, phrases, lower)
		key := strings.Join(p.folds[:length], " ")
		if found[key] == nil {
			found[key] = &naiveName{
				map[int]bool{}, map[int]bool{}, map[int]bool{}, map[int]bool{}, map[uuid.UUID]bool{}, map[string]bool{},
				map[string]bool{},
				map[string]int{}, 0, 0, 0,
			}
		}
		found[key].add(p, length, answers[p.answer])
	}
	maps.DeleteFunc(found, func(_ string, n *naiveName) bool { return !n.isName() })
	for key, n := range found {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(other string) bool {
			return other != key && slices.Contains(strings.Split(other, "-"), key)
		}) {
			names = append(names, n.evidence(key))
		}
	}
	slices.SortFunc(names, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.Beside, a.Beside), cmp.Compare(a.Key, b.Key))
	})
	return names
}

func (n *naiveName) add(p naivePhrase, length int, a Answer) {
	n.uses++
	n.answers[p.answer] = true
	n.spellings[strings.Join(p.words[:length], " ")]++
	if p.fills {
		n.filled[p.answer] = true
	}
	if length == len(p.folds) {
		n.bare++
	} else {
		n.next[p.folds[length]] = true
	}
	if !p.leads {
		return
	}
	n.leads++
	n.leading[p.answer], n.platforms[a.Platform] = true, true
	if a.Tracked {
		n.beside[p.answer], n.prompts[a.PromptID] = true, true
	}
}

func (n *naiveName) isName() bool {
	fills := len(n.filled) >= 5 && 4*len(n.filled) >= len(n.answers)
	makes := 10*n.bare <= 7*n.uses && (len(n.next) >= 2 || len(n.next) == 1 && fills)
	alone := fills && 10*n.leads <= 17*len(n.leading)
	return len(n.beside) >= 5 && len(n.prompts) >= 3 && 10*len(n.leading) >= 6*len(n.answers) && (makes || alone)
}

func (n *naiveName) evidence(key string) Name {
	spellings := slices.SortedFunc(maps.Keys(n.spellings), func(a, b string) int {
		return cmp.Or(n.spellings[b]-n.spellings[a], strings.Compare(a, b))
	})
	return Name{
		Key: key, Name: spellings[0], Answers: len(n.answers), Leading: len(n.leading), Beside: len(n.beside),
		Prompts:   len(n.prompts),
		Platforms: slices.Sorted(maps.Keys(n.platforms)),
	}
}

// Names are those of the plainest computation, whatever the answers.
func TestNamesAreThoseOfThePlainestComputation(t *testing.T) {
	t.Parallel()
	sets, count, lengths := 200, 0, [4]int{}
	for seed := range uint64(sets) {
		answers := generated(rand.New(rand.NewPCG(seed, 5)))
		texts := New(lumen, []extract.Entity{{Name: "Halo"}, {Name: "Blue Fish"}})
		for _, a := range answers {
			texts.Add(a)
		}
		got, want := texts.Result().Names,
			naiveNames([]string{"lumen", "glow", "lumen.example", "halo", "blue fish"}, answers)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("set %d:\n%+v\nwant\n%+v", seed, got, want)
		}
		for _, n := range got {
			count++
			lengths[len(strings.Fields(n.Key))]++
		}
	}
	t.Logf("%d names, %v of 0 to 3 words", count, lengths)
	if count < sets || slices.Min(lengths[1:]) < 10 {
		t.Errorf("%d names in %d sets, %v of 0 to 3 words: it proves little", count, sets, lengths)
	}
}

// generated returns answers in which a few names, labels and words stand in all places.
func generated(random *rand.Rand) (answers []Answer) {
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	names := []string{
		"Lumen", "Halo", "Blue Fish", "Blue®Note", "Nova", "Nova™ Pro", "No\u00adva Max©\ufe0f 2", "NOVA", "nova",
		"Nova´s Air",
		"La Rocha Posa Uno", "La Rocha Posa Due",
		"Wi-Fi", "Fi", "Tovi", "Éclat", "Kilo+ 3", "Weight", "weight", "Prices", "Pros", "A1", "27UX Five", "Vé",
		"Vé(R) Two", "Zed.com", "Zed.Com", "Grün® One",
		"Mo Da Po", "Mo Da Qi", "Mo Da", "Lamp",
	}
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:6+random.IntN(10)]
	places := []string{
		"\n1. %s\n", "\n2. **%s** is bright", "\n* %s – dim", "| %s | $9 |", "\n%s: good",
		" Price: %s\n", " the %s and", " Yes %s.", "[%s](http://a.example/b) ",
		"\n### %s\n", " %s $5", "**%s, dim**", "\n3) %s (old)", " __%s__ ", "\nSee %s too", " a %s", "\n%s\n",
		"\n* **Motor:** 2.0 %s\n",
	}
	random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	places = places[:3+random.IntN(len(places)-3)]
	for i := range 12 + random.IntN(30) {
		text := "Hello."
		for range 1 + random.IntN(8) {
			text += fmt.Sprintf(pick(places...), pick(names...))
		}
		a := answer(random.IntN(14), text)
		a.Platform, a.Language, a.Tracked = pick("a", "a", "b"), pick("en", "en", "en", "en", "de"), random.IntN(4) > 0
		if a.Platform == "a" && random.IntN(3) > 0 {
			a.Text += "\nNova Pro may include mistakes."
		}
		a.ID = uuid.NewV5(uuid.Nil, fmt.Sprint(i))
		answers = append(answers, a)
	}
	return answers
}
