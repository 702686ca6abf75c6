package useragent

import (
	"errors"
	"regexp/syntax"
	"slices"
	"unicode"
)

const (
	gram = 3  // bytes that a text must have to be found
	many = 32 // texts that one pattern may stand for
)

// literals returns texts of which every agent that the pattern matches holds one. When all is true, each of them is
// enough; else the pattern has to confirm.
func literals(pattern string) (texts []string, all bool, err error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, false, err
	}
	texts, all = expand(tree.Simplify())
	if !all {
		texts = needed(tree.Simplify())
	}
	if len(texts) == 0 || slices.ContainsFunc(texts, func(text string) bool { return len(text) < gram }) {
		return nil, false, errors.New("no text of three bytes that it needs")
	}
	return texts, all, nil
}

// expand lists every text that an expression without repetitions matches; not ok for others, and for too many.
func expand(tree *syntax.Regexp) (texts []string, ok bool) {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		texts = []string{""}
		for _, r := range tree.Rune {
			texts = product(texts, cases(r, tree.Flags&syntax.FoldCase != 0))
			if len(texts) > many {
				return nil, false
			}
		}
		return texts, true
	case syntax.OpCapture:
		return expand(tree.Sub[0])
	case syntax.OpQuest:
		texts, ok = expand(tree.Sub[0])
		return append(texts, ""), ok
	case syntax.OpCharClass:
		for i := 0; i < len(tree.Rune); i += 2 {
			for r := tree.Rune[i]; r <= tree.Rune[i+1]; r++ {
				if len(texts) == many {
					return nil, false
				}
				texts = append(texts, string(r))
			}
		}
		return texts, true
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			more, ok := expand(sub)
			if !ok {
				return nil, false
			}
			texts = append(texts, more...)
		}
		return texts, len(texts) <= many
	case syntax.OpConcat:
		texts = []string{""}
		for _, sub := range tree.Sub {
			more, ok := expand(sub)
			if texts = product(texts, more); !ok || len(texts) > many {
				return nil, false
			}
		}
		return texts, true
	}
	return nil, false
}

// cases lists r, and when folded also what is r in another case: the parser makes (?i:w) of [wW].
func cases(r rune, folded bool) []string {
	texts := []string{string(r)}
	for other := unicode.SimpleFold(r); folded && other != r; other = unicode.SimpleFold(other) {
		texts = append(texts, string(other))
	}
	return texts
}

func product(heads, tails []string) []string {
	var texts []string
	for _, head := range heads {
		for _, tail := range tails {
			texts = append(texts, head+tail)
		}
	}
	return texts
}

// needed returns the longest run of an expression's parts that can be listed.
func needed(tree *syntax.Regexp) []string {
	switch tree.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needed(tree.Sub[0])
	case syntax.OpConcat:
		var best []string
		for first := range tree.Sub {
			run := []string{""}
			for _, sub := range tree.Sub[first:] {
				texts, ok := expand(sub)
				if run = product(run, texts); !ok || len(run) > many {
					break
				}
				if shortest(run) > shortest(best) {
					best = run
				}
			}
		}
		return best
	}
	texts, _ := expand(tree)
	return texts
}

func shortest(texts []string) int {
	length := 0
	for i, text := range texts {
		if i == 0 || len(text) < length {
			length = len(text)
		}
	}
	return length
}
