package brief

import (
	"context"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

const (
	maxQuotes, maxFacts = 5, 20

	maxRivals = 50 // competitors whom texts are read for
	leastFact = 3  // answers that hold a fact
	leastWhy  = 7  // words of a sentence that may say why
)

// findings were read in the texts of answers.
type findings struct {
	About string // whom the quotes are about, or against; "": there is nobody
	Said  []said
	Facts []count // words that sentences about rivals hold in several answers, and none about the brand
}

// A said sentence is quoted.
type said struct {
	Text, Platform, Address string

	words []string
	id    clickhouse.UUID
}

// plain has words that praise or join.
//
//go:embed plain.txt
var plain string

var possessive = strings.NewReplacer("'s", "", "’s", "")

// glued is where an answer from a page runs on into the next part without a blank.
var glued = regexp.MustCompile(`([\p{Ll}\d][.!?]|\))(\p{Lu}\p{Ll})`)

// readTexts reads what is written about rivals. The criticism of a theme is in its evidence.
func (in *input) readTexts(ctx context.Context) (f findings, err error) {
	for _, q := range in.Quotes {
		address := in.address("answers/" + q.AnswerID.String())
		f.Said = append(f.Said, said{q.Text, "answer", address, need.Words(q.Text), clickhouse.UUID(q.AnswerID)})
	}
	about, rivals := in.rivals()
	if len(f.Said) > 0 {
		f.About, f.Said = "against "+in.Brand.Name, best(f.Said)
	}
	if len(f.Said) > 0 || len(rivals) == 0 {
		return f, nil
	}
	brand := extract.Entity{Name: in.Brand.Name, Aliases: in.Brand.Aliases, Domains: in.Brand.Domains}
	answers, others := map[string]map[clickhouse.UUID]bool{}, in.plainWords(rivals)
	for _, a := range in.Read {
		if ctx.Err() != nil {
			return f, context.Cause(ctx)
		}
		for _, s := range sentencesOf(a.Text, &brand, rivals) {
			words := need.Words(possessive.Replace(s.line))
			for _, word := range words {
				if a.Language != "" && !strings.HasPrefix(a.Language, "en") {
					break // plain words are English
				}
				others[word] = others[word] || s.namesBrand
				if answers[word] == nil {
					answers[word] = map[clickhouse.UUID]bool{}
				}
				answers[word][a.ID] = true
			}
			if s.namesRival && saysWhy(s.line) {
				f.Said = append(f.Said, said{s.line, a.Platform, in.address("answers/" + a.ID.String()), words, a.ID})
			}
		}
	}
	for word, ids := range answers {
		if !others[word] && len(ids) >= leastFact {
			f.Facts = append(f.Facts, count{word, len(ids)})
		}
	}
	slices.SortFunc(f.Facts, byAnswers)
	f.About, f.Said, f.Facts = "about "+about, best(f.Said), f.Facts[:min(len(f.Facts), maxFacts)]
	return f, nil
}

// plainWords returns the words that are no facts: words of prompts, names and praise.
func (in *input) plainWords(rivals []extract.Entity) map[string]bool {
	texts, words := []string{plain}, map[string]bool{}
	for _, p := range in.Prompts() {
		texts = append(texts, p.Text)
	}
	for _, r := range rivals {
		texts = append(append(texts, r.Name), r.Aliases...)
	}
	for _, text := range texts {
		for _, word := range need.Words(text) {
			words[word] = true
		}
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
			s.line = strings.TrimLeft(OnLine(markup.Replace(part), 1000), " -–•")
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
	return "competitors", rivals[:min(len(rivals), maxRivals)]
}

// saysWhy reports whether a sentence is one of prose, of a length to quote.
func saysWhy(text string) bool {
	words, lower := strings.Fields(text), 0
	for _, word := range words {
		if first, _ := utf8.DecodeRuneInString(word); unicode.IsLower(first) {
			lower++
		}
	}
	return len(words) >= leastWhy && 2*lower >= len(words) && utf8.RuneCountInString(text) <= maxText
}

// best returns the sentences with the most words, at most one of an answer and none that is like another.
func best(all []said) (quotes []said) {
	slices.SortStableFunc(all, func(a, b said) int { return len(b.words) - len(a.words) })
	for _, s := range all {
		if len(quotes) < maxQuotes && !slices.ContainsFunc(quotes, func(other said) bool {
			return other.id == s.id || need.Alike(other.words, s.words)
		}) {
			quotes = append(quotes, s)
		}
	}
	return quotes
}
