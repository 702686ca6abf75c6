package collector

import (
	"net/netip"
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
			wait := l.take(uuid.NamespaceDNS, netip.Addr{}, n, now)
			if wait == 0 {
				passed += n
			} else if rapid.Bool().Draw(t, "waits") {
				now = now.Add(wait)
				if again := l.take(uuid.NamespaceDNS, netip.Addr{}, n, now); again != 0 {
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
					if l.take(brand, netip.Addr{}, 1, noon) == 0 {
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

// One address has a fifth of a site's limit, so that it cannot use up that of others; a proxy's address, which visitors
// share, has all of it.
func TestAnAddressHasAFifthOfASitesLimit(t *testing.T) {
	passed := func(l *limits, addresses ...string) (n int) {
		for range 1000 {
			for _, address := range addresses {
				if l.take(uuid.NamespaceDNS, netip.MustParseAddr(address), 1, noon) == 0 {
					n++
				}
			}
		}
		return n
	}
	for _, c := range []struct {
		addresses []string
		want      int
	}{
		{[]string{"203.0.113.7"}, 100},
		{[]string{"2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3"}, 100}, // of one network
		{[]string{"203.0.113.7", "2001:db8::1"}, 200},
		{[]string{"203.0.113.7", "203.0.113.8"}, 200},
		{[]string{"2001:db8::1", "2001:db8:0:1::1"}, 200}, // of two networks of one provider
		{[]string{"10.1.2.3"}, 500},
		{[]string{"127.0.0.1"}, 500},
	} {
		if got := passed(newLimits(500), c.addresses...); got != c.want {
			t.Errorf("of %v %d pass, want %d", c.addresses, got, c.want)
		}
	}
	l := newLimits(500)
	if wait := l.take(uuid.NamespaceDNS, netip.MustParseAddr("203.0.113.7"), maxItems, noon); wait != 0 {
		t.Errorf("a whole array of one address has to wait %s", wait)
	}
	passed(l, "203.0.113.7")
	if wait := l.take(uuid.NamespaceURL, netip.MustParseAddr("203.0.113.7"), 1, noon); wait != 0 {
		t.Errorf("an address that has used up its share of a site has to wait %s at another", wait)
	}
}
