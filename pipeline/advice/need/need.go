// Package need compares the subjects of searches and prompts by their content words. Its list of stop words is English;
// texts in other languages are compared by all of their words.
package need

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/answerscope/answerscope/pipeline/extract"
)

//go:embed stop.txt
var stopText string

// Stop has the folded words that name no subject.
var Stop = Set(stopText)

// Set returns the words of a list.
func Set(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

var (
	operator = regexp.MustCompile(`(?i)\b(?:site|intitle|inurl|filetype):\S+`)
	word     = regexp.MustCompile(`[\p{L}\p{N}]+(?:['&+.-][\p{L}\p{N}]+)*`)
	year     = regexp.MustCompile(`^(?:19|20)\d\d$`)
)

// Words returns the content words of a text, sorted, each once: it leaves out operators of search engines, years and
// Stop, and cuts the s of a plural.
func Words(text string) []string {
	var words []string
	for _, w := range word.FindAllString(operator.ReplaceAllString(extract.Fold(text), " "), -1) {
		if Stop[w] || year.MatchString(w) {
			continue
		}
		words = append(words, Singular(w))
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Singular returns a word without its plural s.
func Singular(word string) string {
	if utf8.RuneCountInString(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}

// Wording returns a search as a person would ask it: without operators and years.
func Wording(text string) string {
	words := strings.Fields(operator.ReplaceAllString(text, " "))
	return strings.Join(slices.DeleteFunc(words, year.MatchString), " ")
}

// Alike reports whether two lists of Words have two fifths of all their words in common.
func Alike(a, b []string) bool { return alike(len(a), len(b), InBoth(a, b)) }

func alike(a, b, both int) bool { return 5*both >= 2*(a+b-both) }

// InBoth counts the words that two lists of Words have in common.
func InBoth(a, b []string) (n int) {
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			n++
		}
	}
	return n
}

// Prompts indexes the prompts of a brand, or other texts, by their words. Only one goroutine may use it.
type Prompts struct {
	Steps int // comparisons so far

	lengths []int            // of the words of each prompt
	with    map[string][]int // prompts that have a word
	common  []int            // words that a prompt has in common with the search at hand
	touched []int            // prompts with any
}

// Add adds a prompt by its words.
func (p *Prompts) Add(words []string) {
	if p.with == nil {
		p.with = map[string][]int{}
	}
	for _, w := range words {
		p.with[w] = append(p.with[w], len(p.lengths))
	}
	p.lengths, p.common = append(p.lengths, len(words)), append(p.common, 0)
}

// Cover reports whether a prompt has all words of a search or is alike. Any prompt covers a search without words.
func (p *Prompts) Cover(words []string) bool {
	_, covered := p.first(words, func(i, both int) bool {
		return both == len(words) || alike(len(words), p.lengths[i], both)
	})
	return covered || len(words) == 0 && len(p.lengths) > 0
}

// Alike returns the first prompt that is alike.
func (p *Prompts) Alike(words []string) (i int, ok bool) {
	return p.first(words, func(i, both int) bool { return alike(len(words), p.lengths[i], both) })
}

// first returns the first prompt with words in common that fits.
func (p *Prompts) first(words []string, fits func(i, both int) bool) (first int, ok bool) {
	for _, w := range words {
		p.Steps += len(p.with[w])
		for _, i := range p.with[w] {
			if p.common[i] == 0 {
				p.touched = append(p.touched, i)
			}
			p.common[i]++
		}
	}
	for _, i := range p.touched {
		if (!ok || i < first) && fits(i, p.common[i]) {
			first, ok = i, true
		}
		p.common[i] = 0
	}
	p.touched = p.touched[:0]
	return first, ok
}
