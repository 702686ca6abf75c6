package schema_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
)

// What is cached of one user's question must not answer another's.
func (s *stage) shareNoCaches(t *testing.T) {
	// Granules in which a condition held for no row are remembered; ana's filter hides the rows in which it does.
	query := "SELECT count() FROM answers WHERE prompt_text = 'of " + organizationB + "'"
	for range 2 {
		for who, want := range map[login]string{s.ana: "0\n", s.owner: "2\n", s.bob: "2\n"} {
			if got := s.must(t, who, query); got != want {
				t.Errorf("%s counts %q, want %q", who.user, got, want)
			}
		}
	}
	cached := "SELECT count() FROM answers SETTINGS use_query_cache = 1, query_cache_share_between_users = 1"
	if got := s.must(t, s.owner, cached); got != "4\n" {
		t.Errorf("the owner counts %q", got)
	}
	if got := s.must(t, s.ana, "SELECT count() FROM answers"); got != "2\n" {
		t.Errorf("ana counts %q after the owner's answer was cached", got)
	}
}

// Many queries at once are the analyst's own trouble.
func (s *stage) askOnlySoMuchAtOnce(t *testing.T) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		codes = map[int]int{}
	)
	for range 16 {
		wg.Go(func() {
			code, _ := s.ask(t, s.ana, "SELECT sleepEachRow(1) FROM numbers(3) FORMAT Null")
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	wg.Go(func() {
		if got := s.must(t, s.bob, "SELECT count() FROM answers"); got != "2\n" {
			t.Errorf("bob counts %q beside ana's queries", got)
		}
	})
	wg.Wait()
	const tooManyQueries = 202
	if codes[tooManyQueries] == 0 || codes[0] == 0 || codes[tooManyQueries]+codes[0] != 16 {
		t.Errorf("codes of 16 queries at once: %s; want some refused with %d and some answered", fmt.Sprint(codes),
			tooManyQueries)
	}
}

// After some wrong passwords from an address even the right one is refused there for a minute. It comes last.
func (s *stage) areNotFoundByGuessing(t *testing.T) {
	const wrongPassword, tooMany = 516, 201
	last := 0
	for n := 0; last != tooMany && n < 100; n++ { // the engine counts anew each minute
		code, body := s.ask(t, login{s.bob.user, "guess " + strconv.Itoa(n)}, "SELECT 1")
		if last = code; code != wrongPassword && code != tooMany {
			t.Fatalf("guess %d: code %d, %s", n, code, body)
		}
	}
	if code, body := s.ask(t, s.bob, "SELECT 1"); last != tooMany || code != tooMany {
		t.Errorf("after many guesses another is answered with %d and the right password with %d, %s", last, code, body)
	}
	if got := s.must(t, s.ana, "SELECT count() FROM answers"); got != "2\n" {
		t.Errorf("ana counts %q while bob is kept out", got)
	}
}
