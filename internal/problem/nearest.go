package problem

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidates with the smallest edit distance to a misspelt name, in their order; none if it exceeds
// limit. An edit adds, removes or replaces a character.
func Nearest(name string, candidates []string, limit int) (names []string) {
	for _, candidate := range candidates {
		edits := levenshtein.ComputeDistance(name, candidate)
		if edits < limit {
			limit, names = edits, nil
		}
		if edits == limit {
			names = append(names, candidate)
		}
	}
	return names
}

// Similar returns the candidate most like name, without regard to case: at least the share least of the longer one's
// characters needs no edit. It returns "" if none is that similar.
func Similar(name string, candidates []string, least float64) (similar string) {
	name = strings.ToLower(name)
	for _, candidate := range slices.Sorted(slices.Values(candidates)) {
		text := strings.ToLower(candidate)
		length := max(len([]rune(name)), len([]rune(text)), 1)
		same := 1 - float64(levenshtein.ComputeDistance(name, text))/float64(length)
		if same >= least && (same > least || similar == "") {
			similar, least = candidate, same
		}
	}
	return similar
}
