package capture

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/ingest/platform"
)

// linesOfGoogle are lines that Google's pages put below an answer, each of them proof that no answer follows. The first
// and the last two were recorded, the others are inferred.
var linesOfGoogle = []string{
	`AI responses may include mistakes\.[^\n]{0,160}?Learn more`,
	`KI-Antworten können Fehler enthalten\.[^\n]{0,160}?(?:Weitere Informationen|Mehr erfahren)`,
	`Les réponses de l['’]IA peuvent contenir des erreurs\.[^\n]{0,160}?En savoir plus`,
	`Las respuestas de la IA pueden contener errores\.[^\n]{0,160}?(?:Más información|Obtén más información)`,
	`Le risposte dell['’](?:IA|AI) possono contenere errori\.[^\n]{0,160}?Scopri di più`,
	`As respostas da IA podem (?:incluir|conter) erros\.[^\n]{0,160}?Saiba mais`,
	`AI-(?:reacties|antwoorden) kunnen fouten bevatten\.[^\n]{0,160}?Meer informatie`,
	`(?:Thank you\s+)?Your feedback helps Google improve\.`,
	`To save your searches, update your settings`,
}

// hints has a word of each of these lines: a text without any has none of them, and is not searched.
var hints = []string{
	"mistakes", "Fehler", "erreurs", "errores", "errori", "erros", "fouten", "improve", "settings",
}

// furniture matches the furniture that ends a text: one of these lines, or the first sentence alone in its line, and
// nothing but such lines, buttons and the marks of links after it. A sentence within an answer is followed by others.
var furniture = func() *regexp.Regexp {
	proof := "(?:" + withBlanks(strings.Join(linesOfGoogle, "|")) + ")"
	button := withBlanks(`See our \[?Privacy Policy|Share more feedback|Report a problem|Thank you|Learn more|Close`)
	const mark = `[\s\x{a0}\x{202f}*_>|•·\[\].-]|\(https?://[^\s)]*\)`
	return regexp.MustCompile(`(?:\[?` + proof + `|(?:\A|\n)[ \t]*AI responses may include mistakes\.)` +
		`(?:` + proof + `|` + button + `|` + mark + `)*\z`)
}()

// withBlanks lets every kind of blank stand for the blanks of a form: Google's lines have some that do not break.
func withBlanks(form string) string { return strings.ReplaceAll(form, " ", `[\s\x{a0}\x{202f}]+`) }

// placeButtons are the buttons of a place's card, which are glued to its text.
var placeButtons = regexp.MustCompile(`LlamarCómo llegarSitio web|CallDirectionsWebsite`)

// furnitureBytes is the length of the end of a text in which furniture is looked for.
const furnitureBytes = 600

// WithoutFurniture removes what the page of a surface adds to an answer, and white space around it.
func WithoutFurniture(text string) string {
	text = strings.TrimSpace(placeButtons.ReplaceAllString(text, ""))
	from := max(0, len(text)-furnitureBytes)
	if at := findFurniture(text[from:]); at != nil {
		text = text[:from+at[0]]
	}
	blocks := slices.DeleteFunc(strings.Split(text, "\n\n"), func(block string) bool {
		at := findFurniture(strings.TrimSpace(block))
		return at != nil && at[0] == 0
	})
	return strings.TrimSpace(strings.Join(blocks, "\n\n"))
}

func findFurniture(text string) (at []int) {
	if slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(text, hint) }) {
		return furniture.FindStringIndex(text)
	}
	return nil
}

var googleHost = regexp.MustCompile(`^(?:www\.)?google\.[a-z]{2,3}(?:\.[a-z]{2})?$`)

// cleanURL returns the address of a page without the part that a browser is to highlight, and whether it is a search at
// Google. A redirect of Google is resolved from its own parameters.
func cleanURL(address string) (page string, isGoogle bool) {
	page = strings.TrimSpace(address)
	if before, _, ok := strings.Cut(page, ":~:text="); ok && strings.Contains(before, "#") {
		page = strings.TrimSuffix(before, "#")
	}
	u, err := url.Parse(page)
	if err != nil || !googleHost.MatchString(strings.ToLower(u.Hostname())) {
		return page, false
	}
	if u.Path == "/url" {
		for _, name := range []string{"q", "url"} {
			if target := u.Query().Get(name); platform.IsURL(target) {
				return cleanURL(target)
			}
		}
		return page, true
	}
	return page, u.Path == "/search" || strings.HasPrefix(u.Path, "/searchviewer")
}
