package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isEnglish reports whether an answer is in English, the language of the sentiment method: by the record's language,
// "en" or "en-US"; if it has none, by the words of the text.
func isEnglish(language, text string) bool {
	if language == "" {
		return looksEnglish(text)
	}
	primary, _, _ := strings.Cut(strings.ReplaceAll(language, "_", "-"), "-")
	return strings.EqualFold(primary, "en")
}

// sampleBytes bounds the part of a text whose words are counted.
const sampleBytes = 4096

// looksEnglish counts the words of a text that only English has, and words of other languages: English words are at
// least one in twelve, and more than the others.
func looksEnglish(text string) bool {
	words, english, foreign := 0, 0, 0
	for word := range strings.FieldsFuncSeq(text[:min(len(text), sampleBytes)], notInWord) {
		words++
		first, _ := utf8.DecodeRuneInString(word)
		switch origin := functionWords[strings.ToLower(word)]; {
		case origin == englishWord:
			english++
		case origin == foreignWord, !unicode.Is(unicode.Latin, first):
			foreign++
		}
	}
	return english > foreign && 12*english >= words
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r)
}

type wordOrigin uint8

const (
	englishWord wordOrigin = 1 + iota
	foreignWord
)

// functionWords are frequent words of which hardly a sentence of their language has none. Words that English shares,
// such as "in", are on neither side.
var functionWords = func() map[string]wordOrigin {
	words := map[string]wordOrigin{}
	const english = "the and of to is are was with for that this it its you your from which have has can they their " +
		"best offers"
	for word := range strings.FieldsSeq(english) {
		words[word] = englishWord
	}
	const foreign = "der das und ist nicht mit ein eine für von zu auf sind auch " + // German
		"le la les et est des une pour du dans avec qui sont sur " + // French
		"el los las es una para que por con del son más " + // Spanish
		"il di che per è un gli della sono più " + // Italian
		"o os da do não uma com em são mais " + // Portuguese
		"het een van niet voor zijn op met ook " + // Dutch
		"och är att det som på den av er og ikke til " + // Swedish, Norwegian, Danish
		"w i na nie jest się z dla oraz " + // Polish
		"bir ve bu için ile olan " + // Turkish
		"yang dan di untuk dengan ini adalah " + // Indonesian, Malay
		"và của là cho các có " + // Vietnamese
		"a je se ne v že si și este pe cu " // Czech, Slovak, Romanian
	for word := range strings.FieldsSeq(foreign) {
		if _, shared := words[word]; !shared && word != "a" && word != "i" && word != "o" {
			words[word] = foreignWord
		}
	}
	return words
}()
