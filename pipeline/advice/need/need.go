// Package need compares the subjects of searches and prompts by their content words. Its list of stop words is English;
// texts in other languages are compared by all of their words.
package need

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/pipeline/extract"
)

//go:embed stop.txt
var stopText string

// Stop has the folded words that name no subject.
var Stop = func() map[string]bool {
	stop := map[string]bool{}
	for _, word := range strings.Fields(stopText) {
		stop[word] = true
	}
	return stop
}()

var (
	operator = regexp.MustCompile(`\b(?:site|intitle|inurl|filetype):\S+`)
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
		if len([]rune(w)) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
		words = append(words, w)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Alike reports whether two lists of Words have two fifths of all their words in common.
func Alike(a, b []string) bool { return alike(len(a), len(b), inBoth(a, b)) }

func alike(a, b, both int) bool { return 5*both >= 2*(a+b-both) }

func inBoth(a, b []string) (n int) {
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			n++
		}
	}
	return n
}

// Prompts indexes the prompts of a brand by their words.
type Prompts struct {
	lengths []int            // of the words of each prompt
	with    map[string][]int // prompts that have a word
}

// NewPrompts returns prompts by their texts.
func NewPrompts(texts []string) Prompts {
	p := Prompts{make([]int, len(texts)), map[string][]int{}}
	for i, text := range texts {
		words := Words(text)
		p.lengths[i] = len(words)
		for _, w := range words {
			p.with[w] = append(p.with[w], i)
		}
	}
	return p
}

// Cover reports whether a prompt has all words of a search or is alike. Any prompt covers a search without words.
func (p Prompts) Cover(words []string) bool {
	both := map[int]int{} // words in common, by prompt
	for _, w := range words {
		for _, i := range p.with[w] {
			both[i]++
		}
	}
	for i, n := range both {
		if n == len(words) || alike(len(words), p.lengths[i], n) {
			return true
		}
	}
	return len(words) == 0 && len(p.lengths) > 0
}
