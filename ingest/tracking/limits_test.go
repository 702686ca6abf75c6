package tracking

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Requests that take many times what may be used at once keep within a limit of tokens: 5 % of 30,000 a minute were
// counted of each, so that Anthropic was asked for 151,000.
func TestTokensKeepWithinTheLimit(t *testing.T) {
	const took, perMinute, minutes = 15_900, 30_000, 20
	for _, typical := range []int64{took, 1000} { // the second is learned
		synctest.Test(t, func(t *testing.T) {
			limit := newRateLimits(nil, nil).account(platform.Description{
				Slug: "alpha", Models: []platform.Model{{Typical: event.Usage{InputTokens: typical}}}, Limits: platform.Limits{TokensPerMinute: perMinute},
			}, "")
			limit.setLease(postgres.PlatformLease{InFlight: 10, PerMinute: maxPerMinute}, time.Now().Add(time.Hour))
			began, requests := time.Now(), 0
			for {
				expected, err := limit.acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if time.Since(began) > minutes*time.Minute {
					break
				}
				requests++
				<-time.After(5 * time.Second)
				limit.release(expected, took)
			}
			if want := minutes * perMinute / took; requests < want-4 || requests > want+1 {
				t.Errorf("%d requests of %d tokens within %d minutes, want %d", requests, took, minutes, want)
			}
		})
	}
}
