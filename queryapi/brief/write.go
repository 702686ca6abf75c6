package brief

import (
	"cmp"
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/answerscope/answerscope/pipeline/advice"
	"github.com/answerscope/answerscope/pipeline/advice/need"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

const (
	maxPrompts, maxQuotes, maxPages, maxFacts, maxHeadings = 5, 5, 10, 20, 8

	leastFact = 3 // answers that hold a fact
	leastWhy  = 7 // words of a sentence that may say why
	maxTitle  = 120
)

//go:embed brief.md.tmpl
var layout string

//go:embed plain.txt
var plainText string

// plain has words that praise or join, which are no facts.
var plain = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range need.Words(plainText) {
		words[word] = true
	}
	return words
}()

var body = template.Must(template.New("brief").Funcs(template.FuncMap{"text": quote, "link": link}).Parse(layout))

// written is a brief as the function create_content_brief stores it.
type written struct {
	Title    string `json:"title"`
	Body     string `json:"body"`
	Evidence any    `json:"evidence"`
}

// A count is a text and how many answers have it.
type count struct {
	Text    string
	Answers int
}

// A page is cited by answers.
type page struct {
	URL, Name, Kind string
	Answers         int
}

// A said sentence names the rival.
type said struct {
	Text, Platform, Address string

	words []string
	id    clickhouse.UUID
}

// content has what the template shows.
type content struct {
	*input

	Title, Brand, RivalName string
	Listed                  string // address of the answers
	Rates                   []string
	Prompts, Platforms      []count
	More                    int // prompts after those
	Read                    int
	Quotes                  []said
	Pages, Own              []page
	Facts                   []count
	Headings                []string
	Searched                bool // Headings are what platforms searched for
	Crawls, Refused         int64
	Rules                   int
	Computed                string
}

// write makes a brief.
func write(in input) (written, error) {
	c := content{
		input: &in, Title: OnLine(in.subject(), maxTitle), Brand: in.brand.Name,
		RivalName: cmp.Or(in.Name, in.evidence.Rival.Name), Read: len(in.read), Rules: advice.RulesVersion,
		Computed: in.now.Format("2006-01-02 15:04 UTC"),
	}
	c.Rates = slices.Concat(in.rate(c.RivalName, in.RivalAnswers, in.RivalInterval),
		in.rate(c.Brand, in.BrandAnswers, in.BrandInterval))
	if in.Open != "" {
		query, _ := url.ParseQuery(in.Open)
		query.Del("mentioned")
		query.Set("date_from", in.Window.From)
		query.Set("date_to", in.Window.To)
		c.Listed = in.address("answers?" + query.Encode())
	}
	prompts, platforms := map[string]int{}, map[string]int{}
	for _, a := range in.read {
		prompts[a.PromptText]++
		platforms[a.Platform]++
	}
	c.Platforms = mostFrequent(platforms, len(platforms))
	c.Prompts = mostFrequent(prompts, maxPrompts)
	c.More = len(prompts) - len(c.Prompts)
	c.Pages, c.Own = in.pages()
	c.Quotes, c.Facts = in.sentences()
	c.Headings, c.Searched = in.outline()
	for _, crawl := range in.crawls {
		switch {
		case crawl.Facet == "total":
			c.Crawls = crawl.Requests
		case crawl.Facet == clickhouse.FacetStatus && slices.Contains([]string{"401", "403", "429"}, crawl.Name):
			c.Refused += crawl.Requests
		}
	}
	var text strings.Builder
	err := body.Execute(&text, c)
	ids := make([]string, len(c.Quotes))
	for i, q := range c.Quotes {
		ids[i] = q.id.String()
	}
	return written{c.Title, text.String(), map[string]any{
		"v": 1, "window": in.Window, "rules_version": c.Rules, "kind": in.Kind, "open": in.Open, "answers": in.Total,
		"answers_read": c.Read, "quoted": ids,
	}}, err
}

// subject returns what the page is to be about.
func (in *input) subject() string {
	domain, isDomain := strings.CutPrefix(in.Open, "domain=")
	domain, _, _ = strings.Cut(domain, "&")
	switch {
	case in.Kind == advice.KindGap && len(in.read) > 0:
		return in.read[0].PromptText
	case in.Kind == advice.KindSource && isDomain:
		return "A place on " + domain
	case in.Name != "":
		return in.brand.Name + " beside " + in.Name
	}
	return cmp.Or(in.Query, in.Text)
}

// address returns the address of a screen of the brand.
func (in *input) address(screen string) string {
	return strings.TrimSuffix(in.publicURL, "/") + "/brands/" + in.brand.Slug + "/" + screen
}

// pages counts the answers that cite others' pages, and the brand's.
func (in *input) pages() (foreign, owned []page) {
	all, isOwned := map[string]*page{}, map[string]bool{}
	for _, a := range in.read {
		for i, u := range a.URLs {
			if all[u] == nil {
				all[u] = &page{URL: u, Kind: a.Types[i]}
			}
			all[u].Answers++
			all[u].Name = cmp.Or(all[u].Name, a.Titles[i])
			isOwned[u] = a.Owned[i]
		}
	}
	for _, u := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(all[b].Answers-all[a].Answers, strings.Compare(a, b))
	}) {
		p := *all[u]
		_, address, _ := strings.Cut(p.URL, "://")
		p.Kind = advice.PageKind(clickhouse.CitedPage{URL: p.URL, Title: p.Name, SourceType: p.Kind})
		p.Name = cmp.Or(p.Name, address)
		if isOwned[u] {
			owned = append(owned, p)
		} else {
			foreign = append(foreign, p)
		}
	}
	return foreign[:min(len(foreign), maxPages)], owned[:min(len(owned), maxPages)]
}

// sentences returns those that name the rival and hold the most facts, one of an answer, and the facts: content words
// that such sentences of several answers hold, and no sentence about the brand does.
func (in *input) sentences() (quotes []said, facts []count) {
	brand, rivals := in.entities()
	if len(rivals) == 0 {
		return nil, nil
	}
	answers, written, dull := map[string]int{}, map[string]string{}, in.subjectWords()
	var all []said
	for _, a := range in.read {
		ofAnswer := map[string]bool{}
		for sentence := range sentencesOf(glued.ReplaceAllString(extract.Prose(a.Text), "$1\n$2")) {
			text := strings.TrimLeft(OnLine(markup.Replace(sentence), 1000), " -–•")
			var names [2]bool
			for _, mention := range extract.Locate(extract.Version, text, &brand, rivals) {
				names[min(mention.Entity, 1)] = true
			}
			if !names[0] && !names[1] {
				continue
			}
			words := factsIn(text)
			for word, spelling := range words {
				written[word], dull[word] = spelling, dull[word] || names[0]
				ofAnswer[word] = ofAnswer[word] || names[1]
			}
			if names[1] && saysWhy(text) {
				address := in.address("answers/" + a.ID.String())
				all = append(all, said{text, a.Platform, address, slices.Sorted(maps.Keys(words)), a.ID})
			}
		}
		for word, ofRival := range ofAnswer {
			if ofRival {
				answers[word]++
			}
		}
	}
	maps.DeleteFunc(answers, func(word string, n int) bool { return n < leastFact || dull[word] })
	facts = mostFrequent(answers, maxFacts)
	for i := range facts {
		facts[i].Text = written[facts[i].Text]
	}
	return bestQuotes(all, answers), facts
}

var (
	// glued is where an answer from a page runs on into the next part without a blank.
	glued = regexp.MustCompile(`([\p{Ll}\d][.!?]|\))(\p{Lu}\p{Ll})`)
	// factual is a word in lower case or an abbreviation: no name, number or model.
	factual = regexp.MustCompile(`^(?:\p{Ll}[\p{Ll}-]*\p{Ll}|\d?[\p{Lu}-]{1,6})$`)
)

func sentencesOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			_, points := extract.SentenceAt(text, 0)
			end := 0
			for range points {
				_, size := utf8.DecodeRuneInString(text[end:])
				end += size
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// factsIn returns the words of a sentence that may be facts, each with its spelling.
func factsIn(text string) map[string]string {
	facts := map[string]string{}
	for _, spelling := range strings.FieldsFunc(text, func(r rune) bool {
		return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if words := need.Words(spelling); factual.MatchString(spelling) && len(words) == 1 && !plain[words[0]] {
			facts[words[0]] = spelling
		}
	}
	return facts
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

// subjectWords are the words of the prompts, which are no facts.
func (in *input) subjectWords() map[string]bool {
	words := map[string]bool{}
	for _, a := range in.read {
		for _, word := range need.Words(a.PromptText) {
			words[word] = true
		}
	}
	return words
}

// bestQuotes returns the sentences that hold the most facts, at most one of an answer and none that is alike another.
func bestQuotes(all []said, facts map[string]int) (best []said) {
	holds := func(s said) (n int) {
		for _, word := range s.words {
			n += min(facts[word], 1)
		}
		return n
	}
	slices.SortStableFunc(all, func(a, b said) int { return holds(b) - holds(a) })
	for _, s := range all {
		if len(best) < maxQuotes && !slices.ContainsFunc(best, func(other said) bool {
			return other.id == s.id || need.Alike(other.words, s.words)
		}) {
			best = append(best, s)
		}
	}
	return best
}

// outline returns a heading for each group of searches that are alike; without searches the other prompts
// that share two words with one of these.
func (in *input) outline() (headings []string, searched bool) {
	searches := map[string]int{}
	for _, a := range in.read {
		for _, q := range a.Searches {
			searches[OnLine(q, maxText)]++
		}
	}
	var groups [][]string
	for _, q := range mostFrequent(searches, len(searches)) {
		if len(headings) == maxHeadings {
			break
		}
		words := need.Words(q.Text)
		isAlike := func(group []string) bool { return need.Alike(group, words) }
		if len(words) > 0 && !slices.ContainsFunc(groups, isAlike) {
			groups, headings = append(groups, words), append(headings, q.Text)
		}
	}
	if len(headings) > 0 {
		return headings, true
	}
	prompts := map[string][]string{} // their words, by text
	for _, a := range in.read {
		if prompts[a.PromptText] == nil {
			prompts[a.PromptText] = need.Words(a.PromptText)
		}
	}
	for _, p := range in.prompts {
		_, alike := prompts[p.Text]
		tracked := need.Words(p.Text)
		for _, words := range prompts {
			alike = alike || need.InBoth(words, tracked) >= 2
		}
		if alike && p.Text != in.subject() && len(headings) < maxHeadings {
			headings = append(headings, p.Text)
		}
	}
	return headings, false
}

// mostFrequent returns the texts in the most answers, then in code-point order.
func mostFrequent(answers map[string]int, limit int) (counts []count) {
	for text, n := range answers {
		counts = append(counts, count{text, n})
	}
	slices.SortFunc(counts, func(a, b count) int {
		return cmp.Or(b.Answers-a.Answers, strings.Compare(a.Text, b.Text))
	})
	return counts[:min(len(counts), limit)]
}

// rate returns a list item with the answers that name an entity, and the interval of a suggestion with intervals.
func (in *input) rate(name string, answers *int64, i *advice.Interval) []string {
	if name == "" || answers == nil || in.Answers == 0 {
		return nil
	}
	text := fmt.Sprintf("- %s is named in %d of %d answers", quote(name), *answers, in.Answers)
	if i != nil {
		text += fmt.Sprintf(": %.1f %%, with a 95 %% interval of %.1f to %.1f",
			100*float64(*answers)/float64(in.Answers), i.Low, i.High)
	}
	return []string{text}
}
