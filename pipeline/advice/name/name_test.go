package name

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
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
		Prompt: fmt.Sprintf("which lamp number %d?", prompt), Platform: "openai", Text: text, Brand: true, Tracked: true,
	}
}

func read(answers ...Answer) Result {
	texts := New(lumen, rival)
	for _, a := range answers {
		texts.Add(a)
	}
	return texts.Result()
}

// shelf returns six answers to three prompts, each with a list of names.
func shelf(format string, names ...any) (answers []Answer) {
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

func TestNameHeadsListsBesideTrackedNames(t *testing.T) {
	t.Parallel()
	r := read(shelf("1. Lumen\n2. **Nova Pro** is bright\n3. **Nova Max** is dim")...)
	want := []Name{{Key: "nova", Name: "Nova", Answers: 6, Leading: 6, Beside: 6, Prompts: 3, Platforms: []string{"openai"}, Score: 100}}
	if !reflect.DeepEqual(r.Names, want) {
		t.Errorf("found %+v", r.Names)
	}
}

func TestNameIsAbsent(t *testing.T) {
	t.Parallel()
	const format = "1. Lumen\n2. **%s Pro** is bright\n3. **%[1]s Max** is dim"
	beside := shelf(format, "Nova")
	for i := range beside {
		beside[i].Tracked = false
	}
	german := shelf(format, "Nova")
	for i := range german {
		german[i].Language = "de-AT"
	}
	for name, answers := range map[string][]Answer{
		"the brand in another case": shelf(format, "LUMEN"),
		"an alias":                  shelf(format, "Glow"),
		"a competitor":              shelf(format, "HALO"),
		"four answers":              shelf(format, "Nova")[:4],
		"beside nobody":             beside,
		"another language":          german,
		"over 64 characters":        shelf(format, "N"+strings.Repeat("o", 2048)),
		"a word of the prompt":      shelf(format, "Lamp"),
	} {
		if found := keys(read(answers...)); len(found) > 0 {
			t.Errorf("%s: found %q", name, found)
		}
	}
}

// Texts that no writer means well with take linear time, bounded memory and no place in the result.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	var words, table strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&words, "W%dx ", i)
	}
	for i := range 500 {
		fmt.Fprintf(&table, "| **Row%d** | Lumen | pricey |\n", i)
	}
	for name, text := range map[string]string{
		"empty":           "",
		"one word":        strings.Repeat("Aa", 1<<19),
		"emoji":           strings.Repeat("😀👩‍🚀", 50_000),
		"line breaks":     strings.Repeat("\r\n", 100_000) + "Lumen lacks\r\na\r\n",
		"nested bold":     strings.Repeat("**__", 50_000) + "Nova",
		"a table":         table.String(),
		"right to left":   "שלום **Lumen** " + strings.Repeat("مرحبا ", 10_000),
		"brackets":        strings.Repeat("[(", 100_000),
		"HTML":            strings.Repeat("<b onclick=alert(1)>Nova</b>", 1000),
		"regex":           strings.Repeat(`**No(va.*+?[\** `, 1000),
		"a formula":       "=cmd()|'/C calc'!A0 Lumen",
		"possessives":     strings.Repeat("Lumen's's's", 10_000),
		"capitals":        strings.Repeat("Nova ", 200_000),
		"different words": words.String(),
		"broken UTF-8":    strings.Repeat("\xff\xfeNova\xc3", 1000),
		"labels":          strings.Repeat("Cons: ", 10_000),
		"cues":            "Lumen " + strings.Repeat("lacks ", 10_000) + "\n" + strings.Repeat("bulky. ", 10_000),
	} {
		r := read(answer(1, text), answer(2, text))
		if len(r.Names) > 0 || r.Read != 2 {
			t.Errorf("%s: found %q in %d texts", name, keys(r), r.Read)
		}
		for _, theme := range r.Themes {
			t.Errorf("%s: theme %q", name, theme.Words)
		}
	}
}

func TestRarePhrasesAreForgotten(t *testing.T) {
	t.Parallel()
	answers := shelf("1. Lumen\n2. **Nova Pro** is bright\n3. **Nova Max** is dim")
	var many strings.Builder
	for i := range 210_000 {
		fmt.Fprintf(&many, "**Qy%dx**\n", i)
	}
	r := read(append(answers, answer(9, many.String()))...)
	if got := keys(r); !r.Forgotten || !reflect.DeepEqual(got, []string{"nova"}) {
		t.Errorf("forgotten %v, names %q", r.Forgotten, got)
	}
}

// What other brands' texts have is in no count of a brand: a word that is generic there is none here.
func TestBrandsAreCountedApart(t *testing.T) {
	t.Parallel()
	own := shelf("1. Lumen\n2. **Nova Pro** is bright\n3. **Nova Max** is dim")
	want := read(own...)
	other := New(extract.Entity{Name: "Other"}, nil)
	for range 100 {
		other.Add(answer(1, "nova is a word, nova. nova pro"))
	}
	other.Result()
	if got := read(own...); !reflect.DeepEqual(got, want) {
		t.Errorf("found %+v, without the other brand %+v", got, want)
	}
}

func TestThemeIsCriticismOfTheBrand(t *testing.T) {
	t.Parallel()
	const himself = "**Lumen**\n* Pros: bright\n* Cons: Short cable, a wobbly stand\n"
	r := read(answer(1, himself), answer(1, "The Lumen is fine. However, it lacks a longer cable and its stand is poor.\n"),
		answer(2, "### Lumen\n**Drawbacks:**\n* The cable (one meter)\n* The stand\n\nEnd"))
	if len(r.Themes) != 1 {
		t.Fatalf("themes %+v", r.Themes)
	}
	got := r.Themes[0]
	if got.Key != "cable" || got.Words != "cable stand" || got.Answers != 3 || got.Prompts != 2 || got.Naming != 3 || got.Score != 100 {
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

// FuzzTexts asks of any text that it is read, that quotes stand in it, and that the result does not depend on chance.
func FuzzTexts(f *testing.F) {
	for _, seed := range []string{"**Lumen** Cons: [pricey](http://a.example) cable®", "1. Nova’s – “Pro”: $5", "Lumen lacks\r\na|b", "\xff**"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		answers := []Answer{answer(1, text), answer(2, text), answer(3, text), answer(4, text), answer(5, text)}
		r := read(answers...)
		if again := read(answers...); !reflect.DeepEqual(r, again) {
			t.Errorf("read twice: %+v and %+v", r, again)
		}
		for _, theme := range r.Themes {
			for _, q := range theme.Quotes {
				if !strings.Contains(text, q.Text) || utf8.RuneCountInString(q.Text) > maxQuote {
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
	for name, part := range map[string]string{
		"answer": "### 1. **Nova Pro 5** – $99\n* Pros: bright, quiet\n* Cons: it lacks a cable. The Lumen is not as bright.\n",
		"word":   "Aa", "emoji": "😀", "capitals": "Nova ", "labels": "Cons: ", "brackets": "[(", "bold": "**__",
	} {
		text := strings.Repeat(part, 1<<20/len(part))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				read(answer(1, text))
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
			fmt.Fprintf(&text, "### %d. **Maker%d Pro %d** – $99\n* Pros: bright%d, quiet and small\n* Cons: it lacks a cable.\n",
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
