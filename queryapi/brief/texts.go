package brief

import (
	"context"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/advice/name"
	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
)

const (
	maxQuotes, maxFacts = 5, 20

	maxRivals   = 50   // competitors whom texts are read for
	maxSentence = 1000 // code points
	leastFact   = 3    // answers that hold a fact
	leastWhy    = 7    // words of a sentence that may say why
)

// A said sentence is quoted.
type said struct {
	Text, Platform, Address string

	words []string
}

// plain has words that praise, beside name.FillerList.
//
//go:embed plain.txt
var plain string

var (
	possessive = strings.NewReplacer("'s", "", "’s", "")
	markup     = strings.NewReplacer("*", "", "`", "", "#", "", "[", "", "]", "", "|", " ", `\`, "")

	// glued is where an answer from a page runs on into the next part without a blank.
	glued = regexp.MustCompile(`([\p{Ll}\d][.!?]|\))(\p{Lu}\p{Ll})`)
)

// readTexts finds the quotes: criticism, which is in the evidence of a theme, or sentences about rivals.
func (in *input) readTexts(ctx context.Context) error {
	about, rivals := in.rivals()
	switch {
	case len(in.Quotes) > 0:
		in.About = "against " + in.Brand.Name
		for _, q := range in.Quotes {
			in.say(q.AnswerID, "answer", q.Text, need.Words(q.Text))
		}
	case len(rivals) > 0:
		in.About = "about " + about
		if err := in.readAnswers(ctx, rivals); err != nil {
			return err
		}
	}
	in.Said = best(in.Said)
	return nil
}

func (in *input) say(answer uuid.UUID, platform, text string, words []string) {
	in.Said = append(in.Said, said{text, platform, in.address("answers/" + answer.String()), words})
}

// readAnswers reads the sentences about rivals, and their words that stand in no sentence about the brand.
func (in *input) readAnswers(ctx context.Context, rivals []extract.Entity) error {
	brand := extract.Entity{Name: in.Brand.Name, Aliases: in.Brand.Aliases, Domains: in.Brand.Domains}
	plain := in.plainWords(rivals)
	var facts []string // the words of each answer
	for _, a := range in.Read {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var used []string
		for _, s := range sentencesOf(a.Text, &brand, rivals) {
			words := need.Words(possessive.Replace(s.line))
			if s.namesRival && saysWhy(s.line) {
				in.say(uuid.UUID(a.ID), a.Platform, s.line, words)
			}
			if a.Language != "" && !strings.HasPrefix(a.Language, "en") {
				continue // plain words are English
			}
			used = append(used, words...)
			for _, word := range words {
				plain[word] = plain[word] || s.namesBrand
			}
		}
		slices.Sort(used)
		facts = append(facts, slices.Compact(used)...)
	}
	in.Facts = first(slices.DeleteFunc(frequent(facts), func(c count) bool {
		return plain[c.Text] || c.Answers < leastFact
	}), maxFacts)
	return nil
}

// plainWords returns the words that are no facts: words of prompts, names and praise.
func (in *input) plainWords(rivals []extract.Entity) map[string]bool {
	texts, words := []string{plain, name.FillerList}, map[string]bool{}
	for _, p := range in.Prompts {
		texts = append(texts, p.Text)
	}
	for _, r := range rivals {
		texts = append(append(texts, r.Name), r.Aliases...)
	}
	for _, word := range need.Words(strings.Join(texts, "\n")) {
		words[word] = true
	}
	return words
}

// A sentence names the brand or a rival.
type sentence struct {
	line                   string
	namesBrand, namesRival bool
}

func sentencesOf(text string, brand *extract.Entity, rivals []extract.Entity) (all []sentence) {
	text = glued.ReplaceAllString(extract.Prose(text), "$1\n$2")
	mentions, end := extract.Locate(extract.Version, text, brand, rivals), 0
	for part := range extract.Sentences(text) {
		var s sentence
		for end += utf8.RuneCountInString(part); len(mentions) > 0 && mentions[0].Start < end; mentions = mentions[1:] {
			s.namesBrand, s.namesRival = s.namesBrand || mentions[0].Entity == 0, s.namesRival || mentions[0].Entity > 0
		}
		if s.namesBrand || s.namesRival {
			s.line = strings.TrimLeft(advice.OneLine(markup.Replace(part), maxSentence), " -–•")
			all = append(all, s)
		}
	}
	return all
}

// rivals returns whom a suggestion compares with the brand; all competitors where it has no rival.
func (in *input) rivals() (about string, rivals []extract.Entity) {
	if in.Kind == advice.KindCompetitor && in.Name != "" {
		return in.Name, []extract.Entity{{Name: in.Name}}
	}
	for _, c := range in.Brand.Competitors {
		if c.ID == in.Rival.ID {
			return c.Name, []extract.Entity{extract.Entity(c)}
		}
		rivals = append(rivals, extract.Entity(c))
	}
	return "competitors", first(rivals, maxRivals)
}

// saysWhy reports whether a sentence is one of prose, of a length to quote.
func saysWhy(text string) bool {
	words, lower := strings.Fields(text), 0
	for _, word := range words {
		if strings.IndexFunc(word, unicode.IsLower) == 0 {
			lower++
		}
	}
	return len(words) >= leastWhy && 2*lower >= len(words) && utf8.RuneCountInString(text) <= maxText
}

// best returns the sentences with the most words, at most one of an answer and none that is like another.
func best(all []said) (quotes []said) {
	slices.SortStableFunc(all, func(a, b said) int { return len(b.words) - len(a.words) })
	for _, s := range all {
		if !slices.ContainsFunc(quotes, func(other said) bool {
			return other.Address == s.Address || need.Alike(other.words, s.words)
		}) {
			quotes = append(quotes, s)
		}
	}
	return first(quotes, maxQuotes)
}
