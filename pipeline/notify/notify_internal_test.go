package notify

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Ten attempts within 75.6 hours, each wait with a deviation of a tenth.
func TestTheSchedule(t *testing.T) {
	var total time.Duration
	for n := 1; n <= 10; n++ {
		middle, more := waitAfter(n, 0, 0.5)
		low, _ := waitAfter(n, 0, 0)
		high, _ := waitAfter(n, 0, 0.999999)
		if more != (n < 10) || more && (low != middle*9/10 || high <= middle || high > middle*11/10) {
			t.Errorf("after attempt %d: %v, %v, %v, more: %t", n, low, middle, high, more)
		}
		total += middle
	}
	if total != 75*time.Hour+35*time.Minute+5*time.Second {
		t.Errorf("all attempts take %v", total)
	}
	for _, c := range []struct {
		n                int
		retryAfter, want time.Duration
	}{
		{1, time.Second, 5 * time.Second}, {1, time.Hour, time.Hour}, {1, 48 * time.Hour, 24 * time.Hour},
		{3, 31 * time.Minute, 31 * time.Minute}, {0, 0, 5 * time.Second},
	} {
		if got, _ := waitAfter(c.n, c.retryAfter, 0.5); got != c.want {
			t.Errorf("after attempt %d with Retry-After %v: %v, want %v", c.n, c.retryAfter, got, c.want)
		}
	}
}

func TestWhatFollowsFromAnOutcome(t *testing.T) {
	for _, c := range []struct {
		outcome postgres.Outcome
		n       int
		want    string
	}{
		{postgres.Outcome{Code: 204}, 1, "delivered"},
		{postgres.Outcome{Code: 204}, 10, "delivered"},
		{postgres.Outcome{Code: 500, Error: "status 500"}, 9, "pending"},
		{postgres.Outcome{Code: 500, Error: "status 500"}, 10, "failed"},
		{postgres.Outcome{Code: 550, Error: "no such user", Final: true}, 1, "failed"},
	} {
		if got := attemptOf(c.outcome, c.n, 0.5); got.Status != c.want || (got.Wait > 0) != (c.want == "pending") {
			t.Errorf("attempt %d of %+v: %s, next after %v", c.n, c.outcome, got.Status, got.Wait)
		}
	}
	if got := attemptOf(postgres.Outcome{Error: "a\x00b", Excerpt: "\xff"}, 1, 0); got.Error != "ab" ||
		got.Excerpt != "�" {
		t.Errorf("stored are %q and %q", got.Error, got.Excerpt)
	}
}
