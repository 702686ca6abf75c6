package extract

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// Sentences are those of an independent implementation of UAX 29. Line breaks are in the table below: uniseg parts CR
// LF after a full stop and "! " from the line break after it, against SB3 and SB10.
func TestSentencesAreUniseg(t *testing.T) {
	pieces := []string{
		"Apple", "apple", "U.S.", "e.g.", "3.5", ".", "!", "?", "…", "...", " ", "  ", "\t", "(", ")", "[", "]",
		"\"", "'", "”", "“", "»", ",", "-", ":", ";", "–", "É", "é", "ß", "苹果", "。", "、", "7", "$", "*", "**", "\u0301",
		"\u200d", "\u00ad", "\u00a0", "🏆", "ª", "ǅ",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 30).Draw(t, "pieces"), "")
		for rest := s; rest != ""; {
			want, _, _ := uniseg.FirstSentenceInString(rest, -1)
			got := rest[:sentenceEnd(rest)]
			if got != want {
				t.Fatalf("first sentence of %q is %q, want %q", rest, got, want)
			}
			rest = rest[len(got):]
		}
	})
}

func TestSentencesEndWithTheirLine(t *testing.T) {
	cases := []struct{ text, first string }{
		{"- Apple\n- Dell", "- Apple\n"},
		{"Apple\r\nDell", "Apple\r\n"},
		{"Apple.\r\nDell", "Apple.\r\n"},
		{"Apple!  \nDell", "Apple!  \n"},
		{"Apple.) \u2029Dell", "Apple.) \u2029"},
		{"U.S.\nDell", "U.S.\n"},
		{"\n\nApple", "\n"},
		{"Apple", "Apple"},
	}
	for _, c := range cases {
		if got := c.text[:sentenceEnd(c.text)]; got != c.first {
			t.Errorf("first sentence of %q is %q, want %q", c.text, got, c.first)
		}
	}
}
