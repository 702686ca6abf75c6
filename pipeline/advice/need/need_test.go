package need

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestWordsSayWhatATextIsAbout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"What's the best 27\" monitor for office work?": "27 monitor office work",
		"best Running-Shoes 2026 site:reddit.com glass": "glass running-shoe",
		"Café crème, AT&T and T-Fal: its bus pass, gas": "at&t bus cafe creme gas pass t-fal",
		"lamps lamp LAMPS": "lamp",
		"the best of 1999": "",
		"":                 "",
		"🙂 = - '":          "",
		"лампы для чтения": "для лампы чтения",
	} {
		if got := strings.Join(Words(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTwoFifthsInCommonAreAlike(t *testing.T) {
	t.Parallel()
	search := Words("monitor office work")
	if !Alike(search, Words("monitor office lamp desk")) {
		t.Error("two of five words in common: not alike")
	}
	if Alike(search, Words("monitor office lamp desk chair")) {
		t.Error("two of six words in common: alike")
	}
}

// Of any prompts, those that cover a search, and the first that is alike, are those of a comparison with each of them.
func TestCoverIsAComparisonWithEachPrompt(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	text := func() string {
		var words []string
		for range random.IntN(5) {
			words = append(words, fmt.Sprint("w", random.IntN(8)))
		}
		return strings.Join(words, " ")
	}
	covered := 0
	for range 2000 {
		prompts := make([]string, random.IntN(4))
		for i := range prompts {
			prompts[i] = text()
		}
		var index Prompts
		for _, prompt := range prompts {
			index.Add(Words(prompt))
		}
		for range 3 {
			search := Words(text())
			want := slices.ContainsFunc(prompts, func(prompt string) bool {
				words := Words(prompt)
				return InBoth(search, words) == len(search) || Alike(search, words)
			})
			if want {
				covered++
			}
			if got := index.Cover(search); got != want {
				t.Fatalf("%q covers %q: %t, want %t", prompts, search, got, want)
			}
			first := slices.IndexFunc(prompts, func(prompt string) bool {
				words := Words(prompt)
				return InBoth(search, words) > 0 && Alike(search, words)
			})
			if i, ok := index.Alike(search); ok != (first >= 0) || ok && i != first {
				t.Fatalf("%q: the first like %q is %d (%t), want %d", prompts, search, i, ok, first)
			}
		}
	}
	if covered < 600 || covered > 5400 {
		t.Errorf("%d of 6000 are covered: it proves little", covered)
	}
}
