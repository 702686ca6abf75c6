// Package nearest finds the name that a misspelt one is meant to be. An edit is a character that is added, removed or
// replaced.
package nearest

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Names returns the candidates that take the fewest edits, in their order; none where that is more than most.
func Names(name string, candidates []string, most int) (names []string) {
	for _, candidate := range candidates {
		edits := levenshtein.ComputeDistance(name, candidate)
		if edits < most {
			most, names = edits, nil
		}
		if edits == most {
			names = append(names, candidate)
		}
	}
	return names
}

// Similar returns the candidate that is most like name, whatever its case: of the longer one's characters at least the
// part least needs no edit. It returns "" where none is that similar.
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
