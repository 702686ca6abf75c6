package name

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/extract"
)

var (
	lumen = extract.Entity{Name: "Lumen", Aliases: []string{"Glow"}, Domains: []string{"lumen.example"}}
	rival = []extract.Entity{{Name: "Halo"}}
)

// answer returns an answer that names the brand.
func answer(prompt int, text string) Answer {
	return Answer{
		ID: uuid.NewV5(uuid.Nil, fmt.Sprint(prompt, text)), PromptID: uuid.NewV5(uuid.Nil, fmt.Sprint(prompt)),
		Prompt:   fmt.Sprintf("which lamp number %d?", prompt),
		Platform: "openai", Text: text, Brand: true, Tracked: true,
	}
}

func read(answers ...Answer) Result {
	texts := New(lumen, rival)
	for _, a := range answers {
		texts.Add(a)
	}
	return texts.Result()
}

// listing returns six answers to three prompts, each with a list of names.
func listing(format string, names ...any) (answers []Answer) {
	for i := range 6 {
		answers = append(answers, answer(i%3, fmt.Sprintf(format, names...)+strings.Repeat(" ok", i)))
	}
	return answers
}

func keys(r Result) (keys []string) {
	for _, n := range r.Names {
		keys = append(keys, n.Key)
	}
	return keys
}

// A tracked name is not suggested in any of its spellings.
func TestTrackedNamesAreNotSuggestedHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	texts := New(lumen, []extract.Entity{
		{Name: "De'Longhi"}, {Name: "La Roche-Posay"}, {Name: "Fjørd"}, {Name: "J.Crew"},
	})
	for _, a := range listing("1. De Longhi\n2. De´Longhi®\n3. La Roche Posay\n4. Fjord™\n5. J. Crew\n6. **Nova**") {
		texts.Add(a)
	}
	if got := keys(texts.Result()); !reflect.DeepEqual(got, []string{"nova"}) {
		t.Errorf("suggested %q", got)
	}
}

func TestNameHeadsListsBesideTrackedNames(t *testing.T) {
	t.Parallel()
	r := read(listing("1. Lumen\n2. **Nova Pro** is bright\n3. **Nova Max** is dim")...)
	want := []Name{{Key: "nova", Name: "Nova", Answers: 6, Leading: 6, Beside: 6, Prompts: 3,
		Platforms: []string{"openai"}}}
	if !reflect.DeepEqual(r.Names, want) {
		t.Errorf("found %+v", r.Names)
	}
}

func TestNameIsAbsent(t *testing.T) {
	t.Parallel()
	const format = "1. Lumen\n2. **%s Pro** is bright\n3. **%[1]s Max** is dim"
	beside := listing(format, "Nova")
	for i := range beside {
		beside[i].Tracked = false
	}
	german := listing(format, "Nova")
	for i := range german {
		german[i].Language = "de-AT"
	}
	for name, answers := range map[string][]Answer{
		"the brand in another case": listing(format, "LUMEN"),
		"an alias":                  listing(format, "Glow"),
		"a competitor":              listing(format, "HALO"),
		"four answers":              listing(format, "Nova")[:4],
		"beside nobody":             beside,
		"another language":          german,
		"over 64 characters":        listing(format, "N"+strings.Repeat("o", 2048)),
		"a word of the prompt":      listing(format, "Lamp"),
		"the unit of a measure":     listing("1. Lumen\n* **Motor:** 2.0 %s\n\nThe motor is fine.", "HP"),
	} {
		if found := keys(read(answers...)); len(found) > 0 {
			t.Errorf("%s: found %q", name, found)
		}
	}
}

// hostile are texts that no writer means well, by the size that they grow with.
var hostile = map[string]func(size int) string{
	"one word":        func(n int) string { return strings.Repeat("Aa", n/2) },
	"emoji":           func(n int) string { return strings.Repeat("😀👩‍🚀", n/15) },
	"line breaks":     func(n int) string { return strings.Repeat("\r\n", n/2) + "Lumen lacks\r\na\r\n" },
	"nested bold":     func(n int) string { return strings.Repeat("**__", n/4) + "Nova" },
	"a table":         func(n int) string { return numbered(n, "| **Row%d** | Lumen | pricey |\n") },
	"right to left":   func(n int) string { return "שלום **Lumen** " + strings.Repeat("مرحبا ", n/11) },
	"brackets":        func(n int) string { return strings.Repeat("[(", n/2) },
	"HTML":            func(n int) string { return strings.Repeat("<b onclick=alert(1)>Nova</b>", n/28) },
	"regex":           func(n int) string { return strings.Repeat(`**No(va.*+?[\** `, n/16) },
	"a formula":       func(n int) string { return strings.Repeat("=cmd()|'/C calc'!A0 Lumen", n/25) },
	"possessives":     func(n int) string { return strings.Repeat("Lumen's's's", n/11) },
	"capitals":        func(n int) string { return strings.Repeat("Nova ", n/5) },
	"a long name":     func(n int) string { return strings.Repeat("**N"+strings.Repeat("o", 2048)+"**\n", n/2054) },
	"different words": func(n int) string { return numbered(n, "W%dx ") },
	"broken UTF-8":    func(n int) string { return strings.Repeat("\xff\xfeNova\xc3", n/7) },
	"numbers":         func(n int) string { return strings.Repeat("1. ", n/3) },
	"labels":          func(n int) string { return strings.Repeat("Cons: ", n/6) },
	"a long label":    func(n int) string { return "Lumen\nCons: " + numbered(n, "cable%d ") },
	"cues": func(n int) string {
		return "Lumen " + strings.Repeat("lacks ", n/12) + "\n" + strings.Repeat("bulky. ", n/14)
	},
	"long sentences": func(n int) string {
		return strings.Repeat("Lumen lacks "+strings.Repeat("very ", 50)+"cable. ", n/269)
	},
	"links": func(n int) string { return numbered(n, "Lumen lacks [a cable](http://a.example/%d). ") },
}

// numbered repeats a line with numbers from 0 up to a size.
func numbered(size int, format string) string {
	var text strings.Builder
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, format, i)
	}
	return text.String()
}

// Hostile texts have no place in the result. Their reading takes linear time: four times as much of one takes less than
// nine times as long, where quadratic time is sixteen times as long.
func TestHostileTexts(t *testing.T) {
	for name, text := range hostile {
		for _, size := range []int{0, 100_000} {
			r := read(answer(1, text(size)), answer(2, text(size)))
			if len(r.Names)+len(r.Themes) > 0 || r.Read != 2 {
				t.Errorf("%s: found %q and %+v in %d texts", name, keys(r), r.Themes, r.Read)
			}
		}
		small, large := answer(1, text(64<<10)), answer(1, text(256<<10))
		var ratio float64
		for range 5 { // garbage of others may be collected meanwhile
			if ratio = float64(timed(large)) / float64(timed(small)); ratio < 9 {
				break
			}
		}
		if ratio >= 9 {
			t.Errorf("%s: four times as much takes %.0f times as long", name, ratio)
		}
	}
}

// timed returns the processor time of reading an answer.
func timed(a Answer) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := used()
	read(a)
	return used() - began
}

// Memory is bounded whatever the texts: of three, each with 150,000 words of its own, it does not hold all words.
func TestMemoryIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	texts := New(lumen, rival)
	for i := range 3 {
		texts.Add(answer(i, numbered(1<<20, fmt.Sprintf("%c%%d ", 'A'+i))))
	}
	r := texts.Result()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc-before.HeapAlloc) >> 20; used > 100 || !r.Forgotten || r.Read != 3 {
		t.Errorf("%d MB of %d texts, forgotten %v", used, r.Read, r.Forgotten)
	}
	runtime.KeepAlive(texts)
}

// Forgetting the rarest phrases makes room for as many as are left: it does not run again at the next phrase.
func TestForgettingMakesRoom(t *testing.T) {
	t.Parallel()
	texts := New(lumen, rival)
	for i := range int32(maxStarts + 1) {
		texts.starts[row{{}}] = start{tally: tally{answers: 2 + i%3}}
	}
	if texts.forget(); len(texts.starts) == 0 || len(texts.starts) > maxStarts/2 {
		t.Errorf("%d of %d are left", len(texts.starts), maxStarts)
	}
}

// Criticism that is refused does not shift what is quoted after it, whatever signs stand before.
func TestQuotesAreWhole(t *testing.T) {
	t.Parallel()
	refused := "The Lumen™ lacks “" + strings.Repeat("very ", 60) + "much”. "
	text := "😀 Lumen® is fine. " + strings.Repeat(refused, 3) +
		"However the Lumen lacks a [dimmer](http://a.example/b) switch (“soft”). More."
	themes := read(answer(1, text), answer(2, text+"!"), answer(3, "Été. "+text)).Themes
	if len(themes) != 1 || themes[0].Words != "dimmer soft switch" {
		t.Fatalf("themes %+v", themes)
	}
	for _, q := range themes[0].Quotes {
		if q.Text != "However the Lumen lacks a [dimmer]  switch (“soft”)" {
			t.Errorf("quote %q", q.Text)
		}
	}
}

// The order in which answers are added changes neither names nor themes, but for the answers that are quoted.
func TestOrderChangesNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 8))
		answers := generated(random)
		for i := range answers {
			answers[i].Text += "\n\n**Lumen**\n* Cons: " + []string{
				"Short cable", "a wobbly stand", "Stands of cables",
			}[random.IntN(3)]
		}
		want := withoutQuotes(read(answers...))
		random.Shuffle(len(answers), func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
		if got := withoutQuotes(read(answers...)); !reflect.DeepEqual(got, want) || len(got.Themes) == 0 {
			t.Fatalf("set %d: found %+v, in another order %+v", seed, want, got)
		}
	}
}

func withoutQuotes(r Result) Result {
	for i := range r.Themes {
		r.Themes[i].Quotes = nil
	}
	return r
}

func TestRarePhrasesAreForgotten(t *testing.T) {
	t.Parallel()
	answers := listing("1. Lumen\n2. **Nova Pro** is bright\n3. **Nova Max** is dim")
	var many strings.Builder
	for i := range 210_000 { // of few words
		fmt.Fprintf(&many, "**Qy%dx Qz%dx**\n", i%500, i/500)
	}
	r := read(append(answers, answer(9, many.String()))...)
	if got := keys(r); !r.Forgotten || !reflect.DeepEqual(got, []string{"nova"}) {
		t.Errorf("forgotten %v, names %q", r.Forgotten, got)
	}
}

func TestThemeIsCriticismOfTheBrand(t *testing.T) {
	t.Parallel()
	const himself = "**Lumen**\n* Pros: bright\n* Cons: Short cable, a wobbly stand\n"
	r := read(answer(1, himself),
		answer(1, "The Lumen is fine. However, it lacks a longer cable and its stand is poor.\n"),
		answer(2, "### Lumen\n**Drawbacks:**\n* The cable (one meter)\n* The stand\n\nEnd"))
	if len(r.Themes) != 1 {
		t.Fatalf("themes %+v", r.Themes)
	}
	got := r.Themes[0]
	if got.Key != "cable" || got.Words != "cable stand" || got.Answers != 3 || got.Prompts != 2 || got.Naming != 3 {
		t.Errorf("theme %+v", got)
	}
	if got.Quotes[0].Text != "Short cable, a wobbly stand" || got.Quotes[2].Text != "The cable (one meter)" {
		t.Errorf("quotes %+v", got.Quotes)
	}
	for name, text := range map[string]string{
		"a competitor's":         "**Lumen** is bright.\n**Halo**\n* Cons: Short cable\n",
		"a competitor's beside":  "Lumen is bright. Unlike Halo, it lacks a cable.\n",
		"an untracked name's":    "**Lumen** is bright.\n**Zog Lamp**\n* Cons: Short cable\n",
		"below another heading":  "Lumen is bright.\n\n## Which bulb\n\nOne lacks a cable.\n",
		"no criticism":           "Lumen has a cable like much more expensive lamps.\n",
		"a long sentence":        "Lumen lacks " + strings.Repeat("very ", 60) + " long cable.\n",
		"in one prompt's answer": "",
	} {
		if themes := read(answer(1, text), answer(2, text+"!"), answer(3, text+"?")).Themes; len(themes) > 0 {
			t.Errorf("%s: %+v", name, themes)
		}
	}
}

// FuzzTexts asks of any text that it is read, that quotes stand in its prose, and that the result does not depend on
// chance.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{
		"**Lumen** Cons: [pricey](http://a.example) cable®", "Lu\u00admen©\ufe0f: \\$5 &reg;",
		"1. Nova’s – “Pro”: $5", "Lumen lacks\r\na|b", "\xff**",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		answers := []Answer{answer(1, text), answer(2, text), answer(3, text), answer(4, text), answer(5, text)}
		r := read(answers...)
		if again := read(answers...); !reflect.DeepEqual(r, again) {
			t.Errorf("read twice: %+v and %+v", r, again)
		}
		prose := extract.Plain(extract.Prose(text)) // of any character; naivePlain has the usual ones
		for _, theme := range r.Themes {
			for _, q := range theme.Quotes {
				if !strings.Contains(prose, q.Text) || utf8.RuneCountInString(q.Text) > maxQuote {
					t.Errorf("quote %q", q.Text)
				}
			}
		}
		for _, n := range r.Names {
			if n.Key == "" || n.Beside < leastAnswers || utf8.RuneCountInString(n.Key) > maxCharacters {
				t.Errorf("name %+v", n)
			}
		}
	})
}

// BenchmarkMegabyte reads one text of 1 MB of each kind.
func BenchmarkMegabyte(b *testing.B) {
	for name, text := range hostile {
		b.Run(name, func(b *testing.B) {
			a := answer(1, text(1<<20))
			b.SetBytes(int64(len(a.Text)))
			for b.Loop() {
				read(a)
			}
		})
	}
}

// BenchmarkBrand reads 13,000 answers of 3 KB.
func BenchmarkBrand(b *testing.B) {
	answers := make([]Answer, 13_000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range answers {
		var text strings.Builder
		for text.Len() < 3000 {
			fmt.Fprintf(&text,
				"### %d. **Maker%d Pro %d** – $99\n* Pros: bright%d, quiet and small\n* Cons: it lacks a cable.\n",
				random.IntN(9), random.IntN(200), random.IntN(5000), random.IntN(3000))
		}
		answers[i] = answer(i%100, text.String())
	}
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		texts := New(lumen, rival)
		for _, a := range answers {
			texts.Add(a)
		}
		r := texts.Result()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapInuse-before.HeapInuse)/(1<<20), "MB")
		b.ReportMetric(float64(r.Phrases), "phrases")
	}
}
