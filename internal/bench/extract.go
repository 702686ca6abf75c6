package bench

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/extract"
)

// extraction measures answers a second of one core, read as the pipeline reads
// them: 5 KB of text about a brand with six competitors, 15 citations. The
// ceilings are decoding the same answers, which is done before, and one look at
// whether each character is a letter.
func extraction(ctx context.Context, _ Options) (Result, error) {
	r := Result{Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	const n = 64
	ops := map[string]func(i int) error{}
	for language, paragraphs := range paragraphsBy {
		answers := make([]event.Answer, n)
		records := make([][]byte, n)
		for i := range n {
			answers[i] = longAnswer(language, paragraphs, i)
			record, err := event.EncodeAnswer(nil, &answers[i])
			if err != nil {
				return r, err
			}
			records[i] = record
		}
		extract.Read(&answers[0]) // makes the tables
		var decoded event.Answer
		ops[language+"_read"] = func(i int) error { lastReading = extract.Read(&answers[i%n]); return nil }
		ops[language+"_decode"] = func(i int) error { return event.DecodeAnswer(records[i%n], &decoded) }
		ops[language+"_letters"] = func(i int) error { lastCount = letters(answers[i%n].Text); return nil }
	}
	rates, err := perSecond(ctx, ops)
	if err != nil {
		return r, err
	}
	for language := range paragraphsBy {
		read := rates[language+"_read"]
		r.Figures[language+"_per_s"] = read
		for _, ceiling := range []string{"decode", "letters"} {
			r.Ceilings[language+"_"+ceiling+"_per_s"] = rates[language+"_"+ceiling]
			r.Ratios[language+"_to_"+ceiling] = read / rates[language+"_"+ceiling]
		}
	}
	return r, nil
}

// What is measured ends here, so that the compiler leaves nothing out.
//
//nolint:unused // being written is their use
var (
	lastReading extract.Reading
	lastCount   int
)

func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// paragraphsBy are what answers are made of, by language: only of English the
// tone is read.
var paragraphsBy = map[string][]string{
	"en": {
		"Here's a list of excellent machines for small kitchens, for those who want café quality at home:\n\n### ☕ Best for beginners\n\n",
		"**1. [%s Bambino Plus](https://www.example.com/search?q=Bambino) – \\$499.95**\n\n* **Pros:** Heats up in three seconds, superb milk foam.\n* **Cons:** The drip tray isn’t large.\n\n",
		"If you prefer a machine that lasts, %s is worth a look, and those who love to tinker should wait for the sales that the shops announce for the end of the month ([Example Magazine][1]). Most of these have a two-year warranty.\n\n",
		"| Model | Price | Weight |\n|---|---|---|\n| %s Classic | \\$449 | 20 lb |\n\n",
	},
	"de": {
		"Für kleine Küchen eignen sich schmale Geräte mit kurzer Aufheizzeit. Die %s überzeugt durch Verarbeitung und Milchschaum, während andere günstiger sind.\n\n",
		"* **%s Classic**: robuste Qualität, gute Ersatzteile, mäßige Tropfschale – für Einsteiger die erste Wahl.\n",
	},
	"ja": {
		"小さなキッチンに合うエスプレッソマシンを紹介します。%sは立ち上がりが早く、ミルクの泡立ちも十分です。\n\n",
		"一方、%sは価格が手ごろで、部品の交換もしやすいと評価されています。\n\n",
	},
}

// longAnswer is the i-th of the answers in a language, of 5 KB.
func longAnswer(language string, paragraphs []string, i int) event.Answer {
	a := someAnswer(i)
	a.Language = language
	var text strings.Builder
	for p := i; text.Len() < 5000; p++ {
		named := a.Brand.Name
		if p%3 > 0 {
			named = a.Competitors[p%len(a.Competitors)].Name
		}
		text.WriteString(strings.ReplaceAll(paragraphs[p%len(paragraphs)], "%s", named))
	}
	a.Text = text.String()
	a.Citations = nil
	for c := range 15 {
		host := []string{"www." + a.Brand.Domains[0], "www.reddit.com", "magazine.example", "shop.rival1.example"}[c%4]
		a.Citations = append(a.Citations, event.Citation{
			URL: fmt.Sprintf("https://%s/best/%d?utm_source=openai", host, c), Title: "The best machines, tested", Cited: c%5 > 0,
		})
	}
	return a
}
