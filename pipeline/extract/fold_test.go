package extract

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// letters are what folding has rules for, or what the ways around its definition must not change.
var letters = strings.Split("® © \ufe0f \u00ad \u2060 \ufeff \U000e0100 \u0600 ` ´ ′ ʹ "+
	"a b I i ı İ s S Z ß ẞ ø Ø ł đ é É à ñ \u0301 \u0308 \u0327 \u0345 \u20dd \u034f \ufe0f "+
	"\u200d \u200b \u200c ™ ℠ ² ³ ⁿ ₂ ① ⓐ ª º ½ ﬁ ŉ ʼ ’ ‘ ‐ – − — \u00a0 \t \n \u3000 \u2028 Α ά ΐ ς Σ ῼ ᾳ й "+
	"ё Й \u0306 "+
	"한 ㅎ ㅏ ㄴ \u1112 \u1161 \u11ab 가 각 ｶ ﾞ ガ ﾊ ﾟ は \u3099 \u309b 苹 果 﨑 ำ า น ิ क ् ष \u093c \u0958 ﷺ א \u05b7 ש \u05c1 "+
	"🏆 👩 🔬 𝐀 Ⅷ ↀ \u1e9b \u0323 \u0f73 Ꙗ \u0483 ǅ Ꭰ ꭰ ＡＳ 1 . ' - \xff", " ")

func drawText(t *rapid.T, pool []string, limit int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(append([]string{" "}, pool...)), 0, limit).Draw(t, "text"), "")
}

// The fast paths give the same result as the definition.
func TestFoldIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t, letters, 12)
		if got, want := Fold(s), joinSpaces(presentAlphabet().foldSlow(s)); got != want {
			t.Fatalf("fold of %+q is %+q, want %+q", s, got, want)
		}
	})
}

// Every character by itself, and between a letter that loses marks and a mark.
func TestFoldOfEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) && !unicode.IsControl(r) || isPlainIdeograph(r) && r%64 != 0 ||
			r > 0x20000 && r%64 != 0 {
			continue // ideographs and Hangul syllables are alike
		}
		for _, s := range []string{string(r), "x" + string(r) + "\u0301y", "ᄒ" + string(r) + "ᆫ"} {
			if got, want := Fold(s), joinSpaces(presentAlphabet().foldSlow(s)); got != want {
				t.Errorf("fold of %+q is %+q, want %+q", s, got, want)
			}
		}
	}
}

// Folding a text by sentences is folding it whole: no folded text depends on whether its tone was asked for.
func TestFoldBySentences(t *testing.T) {
	pool := append([]string{". ", "! ", "\n", "Apple", ".) ", "。"}, letters...)
	rapid.Check(t, func(t *rapid.T) {
		s := drawText(t, pool, 20)
		cut, whole := current.passageOf(s, true), current.passageOf(s, false)
		if string(cut.folded) != string(whole.folded) || !slices.Equal(cut.capitals, whole.capitals) ||
			!slices.Equal(cut.breaks, whole.breaks) {
			t.Fatalf("fold of %+q by sentences is %+q, whole %+q", s, cut.folded, whole.folded)
		}
		var text strings.Builder
		for i, each := range cut.sentences {
			text.WriteString(each.text)
			if i > 0 && each.folded < cut.sentences[i-1].folded {
				t.Fatalf("sentences of %+q are not in order", s)
			}
		}
		if text.String() != s {
			t.Fatalf("sentences of %+q are %+q", s, text.String())
		}
	})
}

// A folded text folds to itself: names may be folded twice.
func FuzzFold(f *testing.F) {
	f.Add(strings.Join(letters, ""))
	f.Add("Brill®️ A\u00ader\u200bo© ´ ` ′ 🅪 \U000e0001 \u0600")
	f.Add("De’Longhi™ – Häagen\u00a0Dazs ΐ ŉ ﷺ")
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		if once != joinSpaces(presentAlphabet().foldSlow(s)) {
			t.Errorf("fold of %+q is %+q, by definition %+q", s, once, joinSpaces(presentAlphabet().foldSlow(s)))
		}
		if twice := Fold(once); twice != once {
			t.Errorf("fold of %+q is %+q, and that is %+q", s, once, twice)
		}
		if !norm.NFC.IsNormalString(once) {
			t.Errorf("fold of %+q is not composed: %+q", s, once)
		}
	})
}

func TestFold(t *testing.T) {
	cases := map[string]string{
		"Apple™":              "apple ",
		"\u2070\u209c①⓿³":     " ",
		"ⅷ":                   "viii",
		"STRASSE Straße ẞ":    "strasse strasse ss",
		"İ I ı i":             "i i ı i",
		"Ø Ł Đ É Ñ Å":         "ø ł đ e n a",
		"Ёж Йод Άλφα Ϊ":       "еж иод αλφα ι",
		"e\u0301\u0323x":      "ex",
		"が は\u3099":           "が ば",
		"हिंदी":               "हिंदी",
		"’ ‘ ʼ ＇ ' ` ´ ′ ʹ ‛": "' ' ' ' ' ' ' ' ' '",
		"‐ ‑ ‒ – — − － ⁻":     "- - - - — - - ",
		"a\u00a0\t\n\u3000 b": "a b",
		"ŉ":                   "'n",
		"A® B©️ Ⓡ🅪":           "a b ",
		"Vo\u00adl\u200bk\u200cs\u2060 \ufeffM\u200f": "volks m",
		"Ꭰꭰ Ᏸᏸ": "ᎠᎠ ᏰᏰ",
		"":      "",
	}
	for s, want := range cases {
		if got := Fold(s); got != want {
			t.Errorf("fold of %+q is %+q, want %+q", s, got, want)
		}
	}
}

func joinSpaces(s string) string {
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	return s
}
