package auth

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/answerscope/answerscope/internal/problem"
)

func claims() Claims {
	return NewClaims(testIssuer, testAudience, person, time.Now(), time.Now().Add(time.Hour))
}

// signed is a token of a process; its key is that of the header.
func signed(t *testing.T, k *SigningKeys) (text, kid string) {
	t.Helper()
	text, err := k.Sign(t.Context(), claims())
	if err != nil {
		t.Fatal(err)
	}
	parsed, _, err := jwt.NewParser().ParseUnverified(text, &Claims{})
	if err != nil {
		t.Fatal(err)
	}
	return text, parsed.Header["kid"].(string)
}

// Two processes share a store. A key signs for 90 days; what it signed stays valid after that, and the other process
// takes the new one's tokens at once.
func TestKeysRotateInEveryProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		one, two := NewSigningKeys(store), NewSigningKeys(store)
		verifier := two.NewVerifier(testIssuer, testAudience)
		_, first := signed(t, one)
		if _, again := signed(t, two); again != first {
			t.Errorf("the other process signs with %s, want %s", again, first)
		}
		<-time.After(SignFor - 30*time.Minute)
		old, last := signed(t, one)
		if last != first {
			t.Errorf("a key that is young enough was replaced by %s", last)
		}
		if _, err := verifier.Verify(t.Context(), old); err != nil {
			t.Error(err)
		}
		<-time.After(30*time.Minute - 10*time.Second)
		if _, err := verifier.Verify(t.Context(), old); err != nil {
			t.Error(err)
		}
		<-time.After(20 * time.Second) // the other process has read the store in the meantime
		text, second := signed(t, one)
		if second == first || len(store.keys) != 2 {
			t.Errorf("%d keys, the last signs with %s", len(store.keys), second)
		}
		for _, text := range []string{text, old} {
			if _, err := verifier.Verify(t.Context(), text); err != nil {
				t.Error(err)
			}
		}
		public, err := two.Public(t.Context())
		if err != nil || len(public) != 2 || public[0].ID != second {
			t.Errorf("public keys %+v, %v", public, err)
		}
	})
}

// A key that is taken out of the store is of no use half a minute later.
func TestADeletedKeyIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		keys := NewSigningKeys(store)
		text, _ := signed(t, keys)
		verifier := keys.NewVerifier(testIssuer, testAudience)
		if _, err := verifier.Verify(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		store.keys = nil
		<-time.After(freshFor + time.Second)
		if _, err := verifier.Verify(t.Context(), text); err == nil {
			t.Error("its token is still valid")
		}
	})
}

// Tokens of keys that do not exist make the store be read once a second at most, however many come, and none of them
// waits longer than that.
func TestUnknownKeysDoNotFloodTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		keys := NewSigningKeys(store)
		stranger, _ := signed(t, NewSigningKeys(&memory{}))
		verifier := keys.NewVerifier(testIssuer, testAudience)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if _, err := verifier.Verify(t.Context(), stranger); err == nil {
					t.Error("a stranger's token is valid")
				}
			})
		}
		all.Wait()
		if store.reads > 3 {
			t.Errorf("%d reads", store.reads)
		}
	})
}

// That the store is away is no fault of the token.
func TestAStoreThatIsAwayIsNotTheTokensFault(t *testing.T) {
	store := &memory{}
	keys := NewSigningKeys(store)
	text, _ := signed(t, keys)
	other := NewSigningKeys(store)
	store.err = errors.New("away")
	_, err := other.NewVerifier(testIssuer, testAudience).Verify(t.Context(), text)
	if _, refused := errors.AsType[*problem.Error](err); refused || !errors.Is(err, store.err) {
		t.Errorf("%v", err)
	}
}

// A process that cannot decrypt the keys of others signs with its own, and verifies theirs.
func TestAForeignKeyVerifiesOnly(t *testing.T) {
	t.Parallel()
	theirs, err := NewSigningKey()
	if err != nil {
		t.Fatal(err)
	}
	text, err := theirs.Sign(claims())
	if err != nil {
		t.Fatal(err)
	}
	theirs.Private = nil
	keys := NewSigningKeys(&memory{keys: []SigningKey{theirs}})
	if _, kid := signed(t, keys); kid == theirs.ID {
		t.Error("signed with a key that it has not")
	}
	if _, err := keys.NewVerifier(testIssuer, testAudience).Verify(t.Context(), text); err != nil {
		t.Error(err)
	}
}
