// Package apikey owns API keys: it mints them, checks their form, resolves them to their users, and answers /api/keys,
// where users make, see and revoke them.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"
)

// A key is "svc_", 30 random characters and 6 that check them.
const (
	prefix   = "svc_"
	randomly = 30
	checking = 6
	shown    = 8 // characters to identify a key by
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// A Key is a new key. Text is shown once and stored nowhere.
type Key struct {
	Text   string
	Prefix string   // its first characters, for display
	Hash   [32]byte // SHA-256 of Text, which is stored
}

// Mint makes a new key of 178 random bits.
func Mint() Key {
	text := prefix + random(randomly)
	text += checksum(text[len(prefix):])
	return Key{Text: text, Prefix: text[:shown], Hash: sha256.Sum256([]byte(text))}
}

// IsKey is whether a credential was meant to be a key.
func IsKey(credential string) bool { return strings.HasPrefix(credential, prefix) }

// Parse returns the hash of a key, by which it is found; false for a text that cannot be a key, such as one with a
// typo.
func Parse(text string) (hash [32]byte, ok bool) {
	body, prefixed := strings.CutPrefix(text, prefix)
	if !prefixed || len(body) != randomly+checking || strings.Trim(body, base62) != "" || checksum(body[:randomly]) != body[randomly:] {
		return hash, false
	}
	return sha256.Sum256([]byte(text)), true
}

func random(n int) string {
	text := make([]byte, n)
	for i := range text {
		digit, err := rand.Int(rand.Reader, big.NewInt(int64(len(base62))))
		if err != nil {
			panic(err) // rand.Reader does not fail
		}
		text[i] = base62[digit.Int64()]
	}
	return string(text)
}

// checksum is the CRC-32 (IEEE) of text in base 62, the highest digit first.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var digits [checking]byte
	for i := checking - 1; i >= 0; i-- {
		digits[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(digits[:])
}
