package password

import (
	"fmt"
	"unicode/utf8"

	"github.com/ccojocar/zxcvbn-go"
)

// unguessable is the score from which on zxcvbn takes a password for safe from guessing offline: over 10^8 guesses.
const unguessable = 3

// measured is how much of a password is looked at, since that takes more than linear time.
const measured = 72

// Check refuses a password that is too short or easy to guess, also by who knows the words of its person, in one message
// that has the whole rule.
func Check(password string, least int, words ...string) error {
	start := password[:min(len(password), measured)]
	if utf8.RuneCountInString(password) >= least && zxcvbn.PasswordStrength(start, words).Score >= unguessable {
		return nil
	}
	return fmt.Errorf("password: want at least %d characters that are hard to guess, not a common word or name, "+
		"a repetition or a row of keys; several unrelated words will do; or give none, and one is generated", least)
}
