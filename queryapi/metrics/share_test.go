package metrics

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A key that asks too much gets a time to ask again, and its organization's other key is not.
func TestAKeyHasItsShare(t *testing.T) {
	t.Parallel()
	s := aBrand(t, newService(t))
	limited := &service{url: serveWith(t, Config{RateLimit: 1}, s.db, s.warehouse), db: s.db, warehouse: s.warehouse}
	replies := make([]reply, 20)
	var asking sync.WaitGroup
	for i := range replies {
		asking.Go(func() { replies[i] = limited.ask(t, http.MethodGet, "/api/v1/whoami", s.bearer("acme")) })
	}
	asking.Wait()
	refused := 0
	for _, r := range replies {
		if r.StatusCode == http.StatusTooManyRequests {
			refused++
			if r.Header.Get("Retry-After") != "1" || r.Header.Get("RateLimit-Remaining") != "0" ||
				!strings.Contains(r.body, "at most 1 a second") {
				t.Errorf("refused with %s %v", r.body, r.Header)
			}
		}
	}
	if refused == 0 || refused == len(replies) {
		t.Errorf("%d of %d are refused", refused, len(replies))
	}
	if r := limited.ask(t, http.MethodGet, "/api/v1/whoami", s.bearer("rival")); r.StatusCode != 200 {
		t.Errorf("another key: %d", r.StatusCode)
	}
	if r := limited.ask(t, http.MethodGet, "/api/v1/whoami"); r.StatusCode != 401 {
		t.Errorf("no key: %d", r.StatusCode)
	}
}

// refusesSome reports whether of twenty requests at once, one a second being allowed, some are refused for their rate.
func (s *service) refusesSome(t *testing.T, target, bearer string) bool {
	var asking sync.WaitGroup
	var refused atomic.Int32
	for range 20 {
		asking.Go(func() {
			if s.ask(t, http.MethodGet, target, bearer).StatusCode == http.StatusTooManyRequests {
				refused.Add(1)
			}
		})
	}
	asking.Wait()
	return refused.Load() > 0
}

// With replicas a question ends within the time of a fail-over.
func TestAFailoverEndsAQuestion(t *testing.T) {
	t.Parallel()
	c := clickhouse.DefaultConfig()
	for shards, want := range map[string]time.Duration{
		"clickhouse://a/b;clickhouse://c/b": 30 * time.Second, "clickhouse://a/b,clickhouse://c/b": 10 * time.Second,
	} {
		c.Shards = shards
		conn, err := clickhouse.OpenLater(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := New(Config{}, nil, conn, time.Now).queryTimeout; got != want {
			t.Errorf("%s: %s, want %s", shards, got, want)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A request that gets no slot learns when to ask again, and a store that is too slow is not the server's own fault.
func TestARequestDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	s := aBrand(t, newService(t))
	clock := func() time.Time { return today }
	full, slow := New(Config{RateLimit: 100}, s.db, s.warehouse, clock), New(Config{}, s.db, s.warehouse, clock)
	full.slotTimeout, slow.queryTimeout = time.Millisecond, time.Nanosecond
	const slots = 4 // of one organization
	for range slots {
		if _, err := full.slots.Acquire(t.Context(), uuid.FromStringOrNil(s.ids["acme"])); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		api  *API
		want string
	}{
		{full, `429 {"error":"your organization has too many requests under way; ask again in a moment"}`},
		{slow, `503 {"error":"a database of this service did not answer in time; ask again in a moment, ` +
			`or for fewer days"}`},
	} {
		at := &service{url: serveAPI(t, c.api)}
		r := at.ask(t, http.MethodGet, "/api/v1/visibility-trend?brand_id="+s.ids["lumen"], s.bearer("acme"))
		if got := fmt.Sprint(r.StatusCode, " ", r.body); got != c.want || r.Header.Get("Retry-After") != "1" {
			t.Errorf("%s, Retry-After %q; want %s", got, r.Header.Get("Retry-After"), c.want)
		}
	}
}

// Pages of the origins that the operator names may ask, and no others.
func TestPagesOfNamedOriginsMayAsk(t *testing.T) {
	t.Parallel()
	s := aBrand(t, newService(t))
	url := serveWith(t, Config{CORSOrigins: []string{"https://reports.example"}}, s.db, s.warehouse)
	for _, c := range []struct {
		method, origin, want string
		status               int
	}{
		{http.MethodOptions, "https://reports.example", "https://reports.example", 204},
		{http.MethodOptions, "https://evil.example", "", 204},
		{http.MethodGet, "https://reports.example", "https://reports.example", 200},
		{http.MethodGet, "https://reports.example.evil.example", "", 200},
		{http.MethodGet, "", "", 200},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, url+"/api/v1/whoami", nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Origin": c.origin, "Access-Control-Request-Method": "GET",
			"Access-Control-Request-Headers": "authorization",
		} {
			if value != "" {
				request.Header.Set(name, value)
			}
		}
		if c.method == http.MethodGet {
			request.Header.Set("Authorization", "Bearer "+s.keys["acme"])
		}
		r, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != c.status || r.Header.Get("Access-Control-Allow-Origin") != c.want ||
			r.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s from %q: %d %v", c.method, c.origin, r.StatusCode, r.Header)
		}
		if allowed := r.Header.Get("Access-Control-Allow-Headers"); c.method == http.MethodOptions &&
			!strings.Contains(allowed, "Authorization") {
			t.Errorf("a page may send %q", allowed)
		}
	}
	if err := (Config{RateLimit: -1, CORSOrigins: []string{"reports.example", "https://a.example/"}}).Validate(); err ==
		nil || strings.Count(err.Error(), "want") != 3 {
		t.Errorf("Validate() = %v", err)
	}
}
