package testkit

import (
	"context"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// freshName returns a name for what one test owns on a shared engine: the test's name,
// so that a listing shows whose it is, and a random suffix.
func freshName(t testing.TB) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return '_'
		}
	}, t.Name())
	if len(name) > 40 {
		name = name[:40]
	}
	return name + "_" + strconv.FormatUint(rand.Uint64()>>16, 36)
}

// cleanUp drops a database when its test passed, else it logs the address. Run the
// test from `go run ./internal/testkit/serve sh` to look into it: a test binary's own
// engines end with it.
func cleanUp(t testing.TB, kind, name, dsn string, drop func(context.Context) error) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kept %s database %s: %s", kind, name, dsn)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := drop(ctx); err != nil {
			t.Errorf("drop %s database %s: %v", kind, name, err)
		}
	})
}

func withPath(dsn, database string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err) // the address is our own engine's
	}
	u.Path = "/" + database
	return u.String()
}
