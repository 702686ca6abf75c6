package metrics

import (
	"strings"

	"github.com/answerscope/answerscope/pipeline/extract"
)

const (
	excerptLength = 240     // code points
	excerptBefore = 80      // the mention, where its sentence is longer than an excerpt
	excerptWithin = 1 << 16 // of a text, as many as listed_answers reads of each: a text may have megabytes
)

// excerpt is the first sentence of the beginning of a text that names the brand, else the beginning: on one line, of at
// most excerptLength code points, with "…" where a sentence or the text is cut.
func excerpt(text string, version int, brand *extract.Entity) string {
	runes := []rune(text)
	if len(runes) > excerptWithin {
		runes = runes[:excerptWithin]
		text = string(runes)
	}
	from, to, before := 0, len(runes), ""
	if mentions := extract.Locate(version, text, brand, nil); len(mentions) > 0 {
		named := mentions[0].Start
		from, to = extract.SentenceAt(text, named)
		if to-from > excerptLength && named-from > excerptBefore {
			from, before = named-excerptBefore, "…"
		}
	}
	shown := before + strings.Join(strings.Fields(string(runes[from:to])), " ")
	if cut := []rune(shown); len(cut) > excerptLength {
		shown = strings.TrimSpace(string(cut[:excerptLength-1])) + "…"
	}
	return shown
}
