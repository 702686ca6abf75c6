package extract

import (
	"math"
	"strings"
	"testing"

	"github.com/jonreiter/govader"
	"pgregory.net/rapid"
)

// The tone of a sentence is that of govader, word for word.
func TestToneIsGovaders(t *testing.T) {
	theirs := govader.NewSentimentIntensityAnalyzer()
	ours := english()
	var room phrase
	words := []string{
		"great", "GREAT", "bad", "horrible", "Apple", "the", "is", "LG", "not", "isn't", "never", "so", "this", "without", "doubt", "very", "VERY",
		"kind", "of", "but", "no", "nor", "or", "least", "at", "bomb", "shit", "the", "yeah", "right", "death", "kiss", "sort", "just", "enough",
		"good!", "**excellent**", "why?", "??", "!!!", ":)", ":-(", "🎉", "nice😀", "x", "a.", "£5", "slightly", "BARELY", "worst", "to", "die", "for",
	}
	rapid.Check(t, func(t *rapid.T) {
		sentence := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 15).Draw(t, "words"), " ")
		got, want := ours.compound(&room, sentence), theirs.PolarityScores(sentence).Compound
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("tone of %q is %v, want %v", sentence, got, want)
		}
	})
}

func BenchmarkTone(b *testing.B) {
	const sentence = "The Sony WH-1000XM5 is highly regarded for its industry-leading noise cancellation, comfortable fit and excellent sound quality, but it isn't cheap."
	theirs := govader.NewSentimentIntensityAnalyzer()
	ours := english()
	var room phrase
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ours.compound(&room, sentence)
		}
	})
	b.Run("govader", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			theirs.PolarityScores(sentence)
		}
	})
}
