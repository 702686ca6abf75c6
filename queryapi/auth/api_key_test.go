package auth

import (
	"regexp"
	"strings"
	"testing"
)

func TestMintedKeysAreParsed(t *testing.T) {
	form := regexp.MustCompile(`^svc_[0-9A-Za-z]{36}$`)
	seen := map[string]bool{}
	for range 1000 {
		key := MintKey()
		if !form.MatchString(key.Text) || seen[key.Text] {
			t.Fatalf("minted %s", key.Text)
		}
		seen[key.Text] = true
		if hash, ok := ParseKey(key.Text); !ok || hash != key.Hash {
			t.Fatalf("minted %s is not parsed", key.Text)
		}
		if key.Prefix != key.Text[:8] {
			t.Fatalf("prefix %s of %s", key.Prefix, key.Text)
		}
	}
}

// The checksum is part of the format, for scanners of secrets: CRC-32 of
// "000000000000000000000000000000" is 0x77e5db82.
func TestTheChecksumStaysWhatItIs(t *testing.T) {
	zeros := strings.Repeat("0", 30)
	if got := checksum(zeros); got != "2C8GjS" {
		t.Errorf("checksum of zeros is %s", got)
	}
}

func TestEveryTypoIsSeen(t *testing.T) {
	key := MintKey().Text
	for i := range key {
		for _, other := range base62 + "_-. é" {
			typo := key[:i] + string(other) + key[i+1:]
			if _, ok := ParseKey(typo); ok && typo != key {
				t.Fatalf("%s passes for %s", typo, key)
			}
		}
	}
	for _, wrong := range []string{
		"", "svc_", key[:39], key + "0", key + " ", " " + key, strings.ToUpper(key), strings.TrimPrefix(key, "svc_"),
	} {
		if _, ok := ParseKey(wrong); ok {
			t.Errorf("%q passes", wrong)
		}
	}
}

func TestRandomCharactersAreFair(t *testing.T) {
	const draws = 620_000
	counts := map[rune]int{}
	for _, c := range randomText(draws) {
		counts[c]++
	}
	for _, c := range base62 {
		if n := counts[c]; n < 9_500 || n > 10_500 { // five deviations of 100
			t.Errorf("%c came %d times in %d", c, n, draws)
		}
	}
}
