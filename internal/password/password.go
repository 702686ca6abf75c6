// Package password hashes and verifies passwords with argon2id, and generates them.
package password

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// cost is the least that OWASP advises for argon2id, about 30 ms and 19 MB. A hash has its own cost, so that raising
// this one leaves old hashes valid.
var cost = parameters{memory: 19 << 10, passes: 2, lanes: 1}

// most bounds the cost of Verify.
var most = parameters{memory: 1 << 20, passes: 16, lanes: 16}

const (
	saltBytes = 16
	keyBytes  = 32
)

// parameters are the cost of one hash; memory is in KiB.
type parameters struct {
	memory uint32
	passes uint32
	lanes  uint8
}

var b64 = base64.RawStdEncoding.Strict()

// Hash returns an argon2id hash as a PHC string, $argon2id$v=19$m=…,t=…,p=…$salt$key.
func Hash(password string) string {
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	key := argon2.IDKey([]byte(password), salt, cost.passes, cost.memory, cost.lanes, keyBytes)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, cost.memory, cost.passes, cost.lanes,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

// Verify reports whether a password has a hash. An error means that hash is not a PHC string of argon2id.
func Verify(hash, password string) (bool, error) {
	p, salt, want, err := parse(hash)
	if err != nil {
		return false, err
	}
	got := argon2.IDKey([]byte(password), salt, p.passes, p.memory, p.lanes, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

func parse(hash string) (p parameters, salt, key []byte, err error) {
	malformed := errors.New("parse password hash: not a PHC string of argon2id")
	fields := strings.Split(hash, "$")
	if len(fields) != 6 || fields[0] != "" || fields[1] != "argon2id" ||
		fields[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, nil, nil, malformed
	}
	if _, err := fmt.Sscanf(fields[3]+"$", "m=%d,t=%d,p=%d$", &p.memory, &p.passes, &p.lanes); err != nil {
		return p, nil, nil, malformed
	}
	salt, errSalt := b64.DecodeString(fields[4])
	key, errKey := b64.DecodeString(fields[5])
	if errSalt != nil || errKey != nil || len(salt) < 8 || len(salt) > 64 || len(key) < 16 || len(key) > 64 {
		return p, nil, nil, malformed
	}
	if p.passes < 1 || p.lanes < 1 || p.memory > most.memory || p.passes > most.passes || p.lanes > most.lanes {
		return p, nil, nil, errors.New("parse password hash: cost out of bounds")
	}
	return p, salt, key, nil
}

// Generate returns a random password: 100 bits in letters and digits that are hard to confuse.
func Generate() string {
	const letters = "abcdefghijkmnpqrstuvwxyz23456789" // 32: a byte selects all alike
	text := make([]byte, 20)
	rand.Read(text)
	for i, b := range text {
		text[i] = letters[int(b)%len(letters)]
	}
	return string(text)
}
