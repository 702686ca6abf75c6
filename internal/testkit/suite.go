package testkit

import (
	"errors"
	"flag"
	"os"
	"strconv"
	"testing"
	"time"
)

// Draws returns how often a test repeats itself with other random choices: few in `make test`, many in `make test-all`.
func Draws(few, many int) int {
	if All {
		return many
	}
	return few
}

// Seed returns the seed of a test's random choices and logs it: the same in every `make test`, another in each
// `make test-all`. The environment variable ANSWERSCOPE_TEST_SEED repeats one.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if All {
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("ANSWERSCOPE_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("ANSWERSCOPE_TEST_SEED is %q: want a whole number", text)
		}
	}
	t.Logf("repeat with ANSWERSCOPE_TEST_SEED=%d", seed)
	return seed
}

// drawFew makes the properties of pgregory.net/rapid draw the same few values in every `make test`.
func drawFew() error {
	if All || flag.Lookup("rapid.checks") == nil {
		return nil
	}
	return errors.Join(flag.Set("rapid.checks", "25"), flag.Set("rapid.seed", "1"))
}
