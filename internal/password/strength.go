package password

import (
	"fmt"
	"strings"
	"unicode/utf8"

	validator "github.com/wagslane/go-password-validator"
)

const (
	// leastEntropy is the entropy of a dozen random lower-case letters; a sequence of the alphabet or the keyboard
	// counts little.
	leastEntropy = 60

	// leastDifferent refuses a short word that is repeated, which the entropy does not.
	leastDifferent = 8

	// measured is how much of a password is looked at.
	measured = 72
)

// Check refuses a password that is too short or easy to guess, also by who knows the words of its person, in one
// message that has the whole rule.
func Check(password string, least int, words ...string) error {
	start := strings.ToLower(password[:min(len(password), measured)])
	for _, word := range words {
		start = strings.ReplaceAll(start, strings.ToLower(word), "")
	}
	different := map[rune]bool{}
	for _, r := range start {
		different[r] = true
	}
	if utf8.RuneCountInString(password) >= least && len(different) >= leastDifferent &&
		validator.GetEntropy(start) >= leastEntropy {
		return nil
	}
	return fmt.Errorf(
		"password: want at least %d characters, %d different ones, and more than a row of keys or the login's name; "+
			"several unrelated words will do; or give none, and one is generated", least, leastDifferent)
}
