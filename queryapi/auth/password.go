package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	validator "github.com/wagslane/go-password-validator"
	"golang.org/x/crypto/argon2"
)

// hashCost is the least that OWASP advises for argon2id, about 30 ms and 19 MB. A hash has its own cost, so that
// raising this one leaves old hashes valid.
var hashCost = hashParameters{memory: 19 << 10, passes: 2, lanes: 1}

// maxHashCost bounds the cost of Verify.
var maxHashCost = hashParameters{memory: 1 << 20, passes: 16, lanes: 16}

const (
	hashSaltBytes = 16
	hashKeyBytes  = 32
)

// hashParameters are the cost of one hash; memory is in KiB.
type hashParameters struct {
	memory uint32
	passes uint32
	lanes  uint8
}

var phcBase64 = base64.RawStdEncoding.Strict()

// HashPassword returns an argon2id hash as a PHC string, $argon2id$v=19$m=…,t=…,p=…$salt$key.
func HashPassword(password string) string {
	salt := make([]byte, hashSaltBytes)
	rand.Read(salt)
	key := argon2.IDKey([]byte(password), salt, hashCost.passes, hashCost.memory, hashCost.lanes, hashKeyBytes)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashCost.memory, hashCost.passes,
		hashCost.lanes,
		phcBase64.EncodeToString(salt), phcBase64.EncodeToString(key))
}

// VerifyPassword reports whether a password has a hash. An error means that hash is not a PHC string of argon2id.
func VerifyPassword(hash, password string) (bool, error) {
	p, salt, want, err := parseHash(hash)
	if err != nil {
		return false, err
	}
	got := argon2.IDKey([]byte(password), salt, p.passes, p.memory, p.lanes, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

func parseHash(hash string) (p hashParameters, salt, key []byte, err error) {
	malformed := errors.New("parse password hash: not a PHC string of argon2id")
	fields := strings.Split(hash, "$")
	if len(fields) != 6 || fields[0] != "" || fields[1] != "argon2id" ||
		fields[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, nil, nil, malformed
	}
	if _, err := fmt.Sscanf(fields[3]+"$", "m=%d,t=%d,p=%d$", &p.memory, &p.passes, &p.lanes); err != nil {
		return p, nil, nil, malformed
	}
	salt, errSalt := phcBase64.DecodeString(fields[4])
	key, errKey := phcBase64.DecodeString(fields[5])
	if errSalt != nil || errKey != nil || len(salt) < 8 || len(salt) > 64 || len(key) < 16 || len(key) > 64 {
		return p, nil, nil, malformed
	}
	if p.passes < 1 || p.lanes < 1 || p.memory > maxHashCost.memory || p.passes > maxHashCost.passes ||
		p.lanes > maxHashCost.lanes {
		return p, nil, nil, errors.New("parse password hash: cost out of bounds")
	}
	return p, salt, key, nil
}

// GeneratePassword returns a random password: 100 bits in letters and digits that are hard to confuse.
func GeneratePassword() string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789" // 32: a byte selects all alike
	text := make([]byte, 20)
	rand.Read(text)
	for i, b := range text {
		text[i] = letters[int(b)%len(letters)]
	}
	return string(text)
}

const (
	// minEntropy is the entropy of a dozen random lower-case letters; a sequence of the alphabet or the keyboard
	// counts little.
	minEntropy = 60

	// minDifferent refuses a repeated short word, which entropy alone would accept.
	minDifferent = 8

	// measuredLength bounds the characters that are measured.
	measuredLength = 72
)

// MinPassword is the fewest characters of a password that a person chose (NIST SP 800-63B).
const MinPassword = 8

// CheckPassword refuses a password that is short or easy to guess, also from the given words, such as the user's name.
// Its message has the whole rule.
func CheckPassword(password string, least int, words ...string) error {
	start := strings.ToLower(password[:min(len(password), measuredLength)])
	for _, word := range words {
		start = strings.ReplaceAll(start, strings.ToLower(word), "")
	}
	different := map[rune]bool{}
	for _, r := range start {
		different[r] = true
	}
	if utf8.RuneCountInString(password) >= least && len(different) >= minDifferent &&
		validator.GetEntropy(start) >= minEntropy {
		return nil
	}
	return fmt.Errorf(
		"password: want at least %d characters, %d different ones, and more than a row of keys or the login's name; "+
			"several unrelated words will do", least, minDifferent)
}
