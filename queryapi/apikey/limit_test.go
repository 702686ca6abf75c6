package apikey

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/time/rate"
)

func TestAKeyHasABucketOfItsOwn(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	l := &limits{perSecond: 10, of: map[uuid.UUID]*rate.Limiter{}}
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
		t.Errorf("another key waits %v", wait)
	}
	if _, wait := l.take(busy, now.Add(100*time.Millisecond)); wait != 0 {
		t.Errorf("after a tenth of a second: wait %v", wait)
	}
}

// Keys that are not used take no memory for long.
func TestBucketsAreBounded(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	l := &limits{perSecond: 10, of: map[uuid.UUID]*rate.Limiter{}}
	for range 10 * mostLimits {
		now = now.Add(time.Millisecond)
		l.take(uuid.Must(uuid.NewV4()), now)
	}
	if len(l.of) > mostLimits {
		t.Errorf("%d buckets, want at most %d", len(l.of), mostLimits)
	}
}
