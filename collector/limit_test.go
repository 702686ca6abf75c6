package collector

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"pgregory.net/rapid"
)

// However requests come, in any second and a bit no more pass than a second's worth beyond what the time allows; and
// a beacon that has to wait passes then, if no other came.
func TestNoMorePassThanTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond := rapid.IntRange(50, 2000).Draw(t, "limit")
		l := newLimits(perSecond)
		now, passed := noon, 0
		for range rapid.IntRange(1, 300).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 100_000).Draw(t, "µs")) * time.Microsecond)
			n := rapid.IntRange(1, maxItems).Draw(t, "beacons")
			wait := l.take(uuid.NamespaceDNS, n, now)
			if wait == 0 {
				passed += n
			} else if rapid.Bool().Draw(t, "waits") {
				now = now.Add(wait)
				if again := l.take(uuid.NamespaceDNS, n, now); again != 0 {
					t.Fatalf("has to wait %s, then %s more", wait, again)
				}
				passed += n
			}
			if most := float64(perSecond) * (1 + now.Sub(noon).Seconds()); float64(passed) > most*1.0001+1 {
				t.Fatalf("%d passed in %s, want at most %.0f", passed, now.Sub(noon), most)
			}
		}
	})
}

func TestSitesThatComeAtOnceHaveOneLimitEach(t *testing.T) {
	l := newLimits(50)
	brands := make([]uuid.UUID, 1000)
	for i := range brands {
		brands[i] = newID(noon)
	}
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for _, brand := range brands {
				for range 30 {
					if l.take(brand, 1, noon) == 0 {
						passed.Add(1)
					}
				}
			}
		})
	}
	all.Wait()
	if want := int64(50 * len(brands)); passed.Load() != want {
		t.Errorf("%d passed, want %d", passed.Load(), want)
	}
}
