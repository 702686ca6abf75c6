package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"
)

// typicalVisit is about 400 bytes on the log.
func typicalVisit() Visit {
	v := wholeVisit()
	v.Visitor, v.Simulated, v.Screen, v.Session = 1234567890123456789, false, "", ""
	v.Path, v.PlatformBy, v.CountryBy, v.TimeZone = "/shop/espresso", "", "", ""
	return v
}

// typicalAnswer is what an answer weighs: about 5 KB, with 6 competitors, 8 citations and a text of 2.5 KB in Markdown.
func typicalAnswer() Answer {
	a := wholeAnswer()
	a.Competitors, a.Citations, a.Products = nil, nil, nil
	for i := range 6 {
		name := fmt.Sprintf("Rival %d", i)
		a.Competitors = append(a.Competitors, Entity{
			ID: uuid.NewV5(brandID, name), Name: name, Aliases: []string{"The " + name},
			Domains: []string{"www.rival.example"},
		})
	}
	for i := range 8 {
		a.Citations = append(a.Citations, Citation{
			URL: fmt.Sprintf("https://www.magazine%d.example/reviews/best-espresso-machines?utm_source=chatgpt.com",
				i),
			Title: "The best espresso machines for small kitchens, tested", Cited: true,
		})
	}
	a.Text = strings.Repeat(
		"### ☕ Best for small kitchens\n\n* **[Breville \"Bambino\"]()** – \\$299.95: heats up in 3 seconds\n", 26)
	return a
}

func BenchmarkDecodeVisit(b *testing.B) {
	v := typicalVisit()
	record := encode(b, v)
	measure(b, len(record), func() error { return DecodeVisit(record, &v) })
}

func BenchmarkEncodeVisit(b *testing.B) {
	v := typicalVisit()
	into := make([]byte, 0, 1<<10)
	measure(b, len(encode(b, v)), func() error { _, err := EncodeVisit(into, &v); return err })
}

func BenchmarkDecodeAnswer(b *testing.B) {
	a := typicalAnswer()
	record := encode(b, a)
	measure(b, len(record), func() error { return DecodeAnswer(record, &a) })
}

func BenchmarkEncodeAnswer(b *testing.B) {
	a := typicalAnswer()
	measure(b, len(encode(b, a)), func() error { _, err := EncodeAnswer(nil, &a); return err })
}

func measure(b *testing.B, bytes int, op func() error) {
	b.Helper()
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		if err := op(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
