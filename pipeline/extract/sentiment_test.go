package extract

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The words are looked up before the library is asked: what it would say of sentences without valence is 0, and of
// others it is asked. So every sentence has the library's own compound.
func TestCompoundIsTheLibrarys(t *testing.T) {
	lexicon := []string{
		"just enough", "the", "of", "AND", "laptop", "!", "!!!", "??", "but", "never", "least", "kind of", "", "–",
		"42", "\xff",
	}
	for word := range vader().Lexicon {
		lexicon = append(lexicon, word)
	}
	emojis := []string{}
	for emoji := range vader().EmojiDict {
		emojis = append(emojis, emoji)
	}
	slices.Sort(lexicon)
	slices.Sort(emojis)
	random := rand.New(rand.NewPCG(1, 2))
	zero := 0
	for range 20_000 {
		var words []string
		for range random.IntN(6) {
			word := []string{
				"laptop", "it", "isn’t", lexicon[random.IntN(len(lexicon))], emojis[random.IntN(len(emojis))],
			}[random.IntN(5)]
			if random.IntN(3) == 0 {
				word = strings.ToUpper(word)
			}
			around := []string{"", "", "", ".", "\"", "(", "$", "**", "“", "1", "x", " ", "\u00a0"}
			words = append(words, around[random.IntN(len(around))]+word+around[random.IntN(len(around))])
		}
		sentence := strings.Join(words, " ")
		plain := strings.ReplaceAll(strings.Join(strings.Fields(sentence), " "), "’", "'")
		want := int64(math.Round(vader().PolarityScores(plain).Compound * 10_000))
		if got := compoundOf(sentence); got != want {
			t.Fatalf("compound of %q is %d, the library's %d", sentence, got, want)
		}
		if want == 0 {
			zero++
		}
	}
	if zero < 2_000 || zero > 18_000 {
		t.Errorf("%d of 20,000 sentences have no tone: too few of one kind to tell", zero)
	}
}
