package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

// typical is an answer of 5 KB about a brand with 6 competitors, with 15 citations, in the manner of a shopping
// assistant.
func typical(language string, paragraphs ...string) *event.Answer {
	var text strings.Builder
	for i := 0; text.Len() < 5000; i++ {
		text.WriteString(paragraphs[i%len(paragraphs)])
	}
	text.WriteString("\n\n[1]: https://www.example.com/best-laptops?utm_source=chatgpt.com \"Best laptops\"\n")
	a := &event.Answer{
		Language: language,
		Text:     text.String(),
		Brand: event.Brand{Entity: event.Entity{
			ID: id(0), Name: "Apple", Aliases: []string{
				"MacBook", "iPhone", "AirPods", "Apple Watch", "iPad",
			}, Domains: []string{"apple.com"},
		}},
		Prompt: event.Prompt{Text: "what's the best laptop under $1000?"},
	}
	for i, c := range []string{
		"Samsung,Galaxy", "Dell", "HP,Hewlett-Packard", "Lenovo,ThinkPad", "ASUS", "Google Pixel,Pixel",
	} {
		names := strings.Split(c, ",")
		a.Competitors = append(a.Competitors, event.Entity{
			ID: id(i + 1), Name: names[0], Aliases: names[1:],
			Domains: []string{strings.ToLower(strings.ReplaceAll(names[0], " ", "")) + ".com"},
		})
	}
	for i := range 15 {
		host := []string{"www.apple.com", "www.reddit.com", "rtings.com", "www.theverge.com", "samsung.com"}[i%5]
		a.Citations = append(a.Citations, event.Citation{
			URL:   fmt.Sprintf("https://%s/laptops/%d?utm_source=chatgpt.com", host, i),
			Title: "Best laptops of the year", Cited: true,
		})
	}
	return a
}

var englishParagraphs = []string{
	"Here's a curated list of excellent laptops for students, travelers and professionals who want a light " +
		"machine:\n\n### 💼 Best for everyday use\n\n",
	"**1. [Apple MacBook Air 13\" (M4)](https://www.example.com/search?q=MacBook+Air) – \\$999.00**\n\n* **Specs:** " +
		"Apple M4, 16 GB RAM, 256 GB SSD\n* **Highlights:** Superb performance and battery life for its weight, " +
		"though its ports are few.\n\n",
	"**2. [Dell XPS 13]() – \\$949.99**\n\n* **Specs:** Intel Core Ultra 7, 16 GB RAM, " +
		"512 GB SSD\n* **Highlights:** A sharp screen in a compact case; the keyboard isn’t everybody's " +
		"favourite.\n* **Where to buy:** [Best Buy](https://www.example.com/search?q=Dell+XPS+13)([TechRadar][1])\n\n",
	"If you prefer a convertible, the Lenovo ThinkPad X1 and the HP Spectre are worth a look, and shoppers on a " +
		"budget should wait for the sales that the shops announce for the end of the month. Most of these machines " +
		"have fast storage, quiet fans and a two-year warranty.\n\n",
}

var germanParagraphs = []string{
	"Für Studierende eignen sich leichte Geräte mit langer Laufzeit. Das MacBook Air von Apple überzeugt durch " +
		"Verarbeitung und Display, während das Dell XPS günstiger ist.\n\n",
	"* **Lenovo ThinkPad**: robuste Qualität, gute Tastatur, mäßige Lautsprecher – für Büros die erste Wahl.\n* " +
		"**ASUS Zenbook**: größerer Bildschirm, höhere Auflösung, kürzere Akkulaufzeit.\n\n",
}

var japaneseParagraphs = []string{
	"学生や社会人に人気のノートパソコンを紹介します。AppleのMacBook Airは軽くてバッテリーが長持ちし、動画編集にも十分な性能があります。\n\n",
	"一方、DellのXPSは価格が手ごろで、LenovoのThinkPadはキーボードの打ちやすさが評価されています。ASUSは画面が大きく、ゲームにも向いています。\n\n",
}

// BenchmarkExtract reads answers of 5 KB; only of English ones the tone is read.
func BenchmarkExtract(b *testing.B) {
	for _, c := range []struct {
		name   string
		answer *event.Answer
	}{
		{"english", typical("en", englishParagraphs...)},
		{"german", typical("de", germanParagraphs...)},
		{"japanese", typical("ja", japaneseParagraphs...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			Read(c.answer) // builds the tables
			b.ReportAllocs()
			b.SetBytes(int64(len(c.answer.Text)))
			for b.Loop() {
				Read(c.answer)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
		})
	}
}
