package tracking

import (
	"math/big"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Six requests of a run may fail, besides those that come up against a rate limit.
func TestRateLimitsUseUpNoAttempts(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		class                 platform.Class
		failures, rateLimited int
		delay                 time.Duration // 0: it is given up
	}{
		{platform.Unavailable, 1, 0, time.Second},
		{platform.Unavailable, 5, 0, 16 * time.Second},
		{platform.Unavailable, 6, 0, 0},
		{platform.Unavailable, 7, 6, time.Minute},
		{platform.Unavailable, 12, 6, 0},
		{platform.RateLimited, 100, 94, time.Minute},
		{platform.Auth, 1, 0, 0},
	} {
		at, ok := nextAttempt(&platform.Error{Class: c.class}, c.failures, c.rateLimited, now, now.Add(runTimeout))
		if ok != (c.delay > 0) || ok && at.Sub(now) != c.delay {
			t.Errorf("%+v: again %t, after %s", c, ok, at.Sub(now))
		}
	}
}

// What is left of an estimate pays for one more request, exactly or not at all; the first one is reserved.
func TestARunPaysFromItsEstimate(t *testing.T) {
	price := big.NewRat(4, 1000)
	for _, c := range []struct {
		estimate string
		paid     []string
		price    *big.Rat
		want     bool
	}{
		{"0.0016", nil, price, true}, {"0.0016", []string{""}, price, true}, {"0.0056", []string{"0.0016"}, price, true},
		{"0.0056", []string{"0.0016", "0.000001"}, price, false}, {"0.0016", []string{"0.0016"}, price, false},
		{"0", []string{"0.0016"}, price, false}, {"0.0016", []string{"0.0016"}, nil, true},
	} {
		r := &queuedRun{TrackingRun: postgres.TrackingRun{Estimate: c.estimate, Cost: "0"}}
		for _, cost := range c.paid {
			r.pay(cost)
		}
		if r.canPay(c.price) != c.want {
			t.Errorf("%+v: can pay %t", c, !c.want)
		}
	}
}
