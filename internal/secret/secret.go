// Package secret encrypts what a store keeps for us (AES-256-GCM), under keys that are never in that store.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const keyBytes = 32 // AES-256

// A Ring holds named keys: the first encrypts, all decrypt. The zero Ring has none.
type Ring struct {
	first    string
	firstKey []byte
	keys     map[string]cipher.AEAD
}

// ParseRing reads id:base64[,id:base64…], each key 32 bytes. Its errors show nothing of the keys.
func ParseRing(text string) (Ring, error) {
	r := Ring{keys: map[string]cipher.AEAD{}}
	for entry := range strings.SplitSeq(text, ",") {
		id, encoded, _ := strings.Cut(strings.TrimSpace(entry), ":")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if id == "" || err != nil || len(key) != keyBytes {
			return Ring{}, errors.New("want id:base64[,id:base64…], each key 32 bytes, " +
				"such as k1: and the output of `openssl rand -base64 32`")
		}
		if r.keys[id] != nil {
			return Ring{}, fmt.Errorf("want one key of id %q, there are two", id)
		}
		if r.first == "" {
			r.first, r.firstKey = id, key
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return Ring{}, fmt.Errorf("read secret key: %w", err)
		}
		if r.keys[id], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return Ring{}, fmt.Errorf("read secret key: %w", err)
		}
	}
	return r, nil
}

// IsSet reports whether the ring has a key.
func (r Ring) IsSet() bool { return r.first != "" }

// Seal encrypts plain with the first key. The result is text, begins with the key's id, and opens only for the same
// name: a sealed value that was copied to another row does not.
func (r Ring) Seal(plain []byte, name string) string {
	sealed := r.keys[r.first].Seal(nil, nil, plain, []byte(name)) //nolint:gosec // this AEAD makes its own nonce
	return r.first + ":" + base64.StdEncoding.EncodeToString(sealed)
}

// MAC returns the HMAC-SHA256 of a text under the first key.
func (r Ring) MAC(text string) []byte {
	mac := hmac.New(sha256.New, r.firstKey)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// Open decrypts what Seal returned for name.
func (r Ring) Open(sealed, name string) ([]byte, error) {
	id, encoded, _ := strings.Cut(sealed, ":")
	key := r.keys[id]
	if key == nil {
		return nil, fmt.Errorf("open secret %s: its key %q is not among ANSWERSCOPE_SECRET_KEYS", name, id)
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("open secret %s: %w", name, err)
	}
	plain, err := key.Open(nil, nil, text, []byte(name))
	if err != nil {
		return nil, fmt.Errorf("open secret %s: it is of another key, or was changed: %w", name, err)
	}
	return plain, nil
}

// Reseal encrypts with the first key what Seal returned for name.
func (r Ring) Reseal(sealed, name string) (string, error) {
	plain, err := r.Open(sealed, name)
	if err != nil {
		return "", err
	}
	return r.Seal(plain, name), nil
}

// FileRing reads the ring of a file, which it makes with one new key, readable by its user alone, if there is none.
// Several processes may do so at once: all get the same ring.
func FileRing(path string) (Ring, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if err := makeFile(path); err != nil {
			return Ring{}, fmt.Errorf("make secret key: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return Ring{}, fmt.Errorf("read secret keys: %w", err)
	}
	ring, err := ParseRing(strings.TrimSpace(string(text)))
	if err != nil {
		return Ring{}, fmt.Errorf("read secret keys %s: %w", path, err)
	}
	return ring, nil
}

// makeFile links a whole file to path, so that no process reads half a key; an earlier file stays.
func makeFile(path string) error {
	// The id differs from another installation's, so that both keys can be given.
	id, key := make([]byte, 4), make([]byte, keyBytes)
	rand.Read(id)
	rand.Read(key)
	file, err := os.CreateTemp(filepath.Dir(path), ".secret-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString("k" + hex.EncodeToString(id) + ":" + base64.StdEncoding.EncodeToString(key) + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Link(file.Name(), path); errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}
