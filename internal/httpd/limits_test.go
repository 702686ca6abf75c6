package httpd

import (
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
)

func TestACallerHasABucketOfItsOwn(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	l := NewCallerLimit(10, nil)
	busy, other := uuid.UUID{1}, uuid.UUID{2}
	for n := range 10 {
		if remaining, wait := l.take(busy, now); remaining != 9-n || wait != 0 {
			t.Fatalf("request %d: %d remain, wait %v", n, remaining, wait)
		}
	}
	if remaining, wait := l.take(busy, now); remaining != 0 || wait != 100*time.Millisecond {
		t.Errorf("the eleventh: %d remain, wait %v; want 100ms", remaining, wait)
	}
	if _, wait := l.take(other, now); wait != 0 {
		t.Errorf("another caller waits %v", wait)
	}
	if _, wait := l.take(busy, now.Add(100*time.Millisecond)); wait != 0 {
		t.Errorf("after a tenth of a second: wait %v", wait)
	}
}

// Callers that ask no more take no memory for long. One that always asks gets no more for it: 10, and 10 a second.
func TestBucketsAreBounded(t *testing.T) {
	began := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	l, now, passed := NewCallerLimit(10, nil), began, 0
	for range 10 * maxBuckets {
		now = now.Add(time.Millisecond)
		l.take(uuid.Must(uuid.NewV4()), now)
		if _, wait := l.take(uuid.UUID{1}, now); wait == 0 {
			passed++
		}
	}
	if most := 11 + int(10*now.Sub(began).Seconds()); passed > most {
		t.Errorf("%d requests of a caller that always asks pass, want at most %d", passed, most)
	}
	if len(l.byCaller) > maxBuckets {
		t.Errorf("%d buckets, want at most %d", len(l.byCaller), maxBuckets)
	}
}

// A user is counted with all their keys: once, each of 300 keys that a viewer minted had a limit of its own. A share
// link is counted apart.
func TestUsersAndLinksAreLimited(t *testing.T) {
	user, key := uuid.UUID{1}, uuid.UUID{2}
	callers := map[string]identity.Identity{
		"user": {UserID: user}, "key": {UserID: user, KeyID: key}, "link": {LinkID: uuid.UUID{3}},
	}
	routes := func(limit *CallerLimit) func(app *fiber.App) {
		return func(app *fiber.App) {
			app.Get("/:caller", func(c *fiber.Ctx) error {
				c.SetUserContext(identity.NewContext(c.UserContext(), callers[c.Params("caller")]))
				return c.Next()
			}, limit.Handle, func(c *fiber.Ctx) error { return c.SendString("passed") })
		}
	}
	now := time.Now()
	url, _, _ := start(t, routes(NewCallerLimit(1, func() time.Time {
		now = now.Add(300 * time.Millisecond) // what is left of a second is rounded up
		return now
	})))
	for _, caller := range [][2]string{{"/user", "/key"}, {"/link", "/link"}} {
		caller, again := caller[0], caller[1]
		if response, body := ask(t, "GET", url+caller); response.StatusCode != 200 ||
			response.Header.Get("RateLimit-Remaining") != "0" || body != "passed" {
			t.Errorf("%s: %d %v %s", caller, response.StatusCode, response.Header, body)
		}
		response, body := ask(t, "GET", url+again)
		const want = `{"error":"too many requests: want at most 1 a second of one user; ` +
			`ask again after Retry-After seconds"}`
		if response.StatusCode != 429 || response.Header.Get("Retry-After") != "1" ||
			response.Header.Get("RateLimit-Remaining") != "0" || body != want {
			t.Errorf("%s again: %d %v %s", caller, response.StatusCode, response.Header, body)
		}
	}
	url, _, _ = start(t, routes(NewCallerLimit(0, nil)))
	for range 3 {
		if response, _ := ask(t, "GET", url+"/user"); response.StatusCode != 200 ||
			response.Header.Get("RateLimit-Remaining") != "" {
			t.Errorf("without a limit: %d %v", response.StatusCode, response.Header)
		}
	}
}
