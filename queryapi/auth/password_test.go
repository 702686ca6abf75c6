package auth

import (
	"strings"
	"testing"
)

func TestAPasswordIsVerifiedByItsHash(t *testing.T) {
	for _, password := range []string{"correct horse", "", "pässwörd\x00", strings.Repeat("x", 1000)} {
		hash := HashPassword(password)
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
			t.Errorf("hash %s", hash)
		}
		if hash == HashPassword(password) {
			t.Error("two hashes of one password are equal: no salt")
		}
		if ok, err := VerifyPassword(hash, password); err != nil || !ok {
			t.Errorf("Verify(%q) = %v, %v", password, ok, err)
		}
		if ok, err := VerifyPassword(hash, password+"."); err != nil || ok {
			t.Errorf("another password: %v, %v", ok, err)
		}
	}
}

// Made with the reference implementation's command line (argon2 somesalt -id -t 2 -m 16 -p 1 -l 32).
func TestHashesOfOthersAreRead(t *testing.T) {
	const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if ok, err := VerifyPassword(reference, "password"); err != nil || !ok {
		t.Errorf("Verify() = %v, %v", ok, err)
	}
}

func TestWhatIsNoHashIsAnError(t *testing.T) {
	good := HashPassword("x")
	for _, hash := range []string{
		"", "x", "$2a$10$abcdefghijklmnopqrstuv", good[:len(good)-40], good + "$", good + "=",
		strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=16", 1),
		strings.Replace(good, "p=1", "p=0", 1), strings.Replace(good, "t=2", "t=0", 1),
		strings.Replace(good, "m=19456", "m=4294967295", 1), strings.Replace(good, "p=1", "p=1,x=2", 1),
	} {
		if ok, err := VerifyPassword(hash, "x"); err == nil || ok {
			t.Errorf("Verify(%q) = %v, %v", hash, ok, err)
		}
	}
}

func TestGeneratedPasswordsDiffer(t *testing.T) {
	a, b := GeneratePassword(), GeneratePassword()
	if a == b || len(a) != 20 {
		t.Errorf("generated %q and %q", a, b)
	}
}
