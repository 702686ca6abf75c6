package metrics

import (
	"strings"

	"github.com/answerscope/answerscope/pipeline/extract"
)

const (
	excerptLength = 240 // code points
	excerptBefore = 80  // the mention, where its sentence is longer than an excerpt
)

// excerpt is the first sentence that names the brand, else the beginning of the text: on one line, of at most
// excerptLength code points, with "…" where a sentence or the text is cut.
func excerpt(text string, mentions []extract.Mention) string {
	runes := []rune(text)
	from, to := 0, len(runes)
	if len(mentions) > 0 {
		named := mentions[0].Start
		from, to = extract.SentenceAt(text, named)
		if to-from > excerptLength && named-from > excerptBefore {
			from = named - excerptBefore
		}
	}
	shown := strings.Join(strings.Fields(string(runes[from:to])), " ")
	if cut := []rune(shown); len(cut) > excerptLength {
		shown = strings.TrimSpace(string(cut[:excerptLength-1])) + "…"
	}
	return shown
}
