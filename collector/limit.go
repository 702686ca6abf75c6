package collector

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/time/rate"
)

// limits bounds the beacons a second of each site, and of each address at a site; up to a second's worth may come at
// once.
type limits struct {
	perSecond int
	mu        sync.RWMutex
	sites     map[uuid.UUID]*rate.Limiter // by brand

	// By a hash that differs with each start, so that no address is stored. Addresses of one hash share a limit.
	addresses []*rate.Limiter
	seed      maphash.Seed
}

const (
	addressShare  = 5       // an address may use a fifth of a site's limit
	addressHashes = 1 << 14 // 1.3 MB
)

func newLimits(perSecond int) *limits {
	l := &limits{
		perSecond: perSecond, sites: map[uuid.UUID]*rate.Limiter{},
		addresses: make([]*rate.Limiter, addressHashes), seed: maphash.MakeSeed(),
	}
	perAddress := max(perSecond/addressShare, maxItems)
	for i := range l.addresses {
		l.addresses[i] = rate.NewLimiter(rate.Limit(perAddress), perAddress)
	}
	return l
}

// take lets n beacons of an address at a site pass, or returns how long to wait until they would.
func (l *limits) take(brand uuid.UUID, address netip.Addr, n int, now time.Time) (wait time.Duration) {
	if address.IsGlobalUnicast() && !address.IsPrivate() { // else it is a proxy's, whose visitors share it
		if wait := take(l.address(brand, address), n, now); wait > 0 {
			return wait
		}
	}
	return take(l.site(brand), n, now)
}

func take(limit *rate.Limiter, n int, now time.Time) (wait time.Duration) {
	if limit.AllowN(now, n) {
		return 0
	}
	reserved := limit.ReserveN(now, n)
	defer reserved.CancelAt(now)
	return reserved.DelayFrom(now) + time.Microsecond // its tokens are floats, which may lack one nanosecond's worth
}

// address returns the limiter of an address at a site. Addresses of one IPv6 network of 64 bits, which one subscriber
// has, share it.
func (l *limits) address(brand uuid.UUID, address netip.Addr) *rate.Limiter {
	bits := 32
	if address.Is6() {
		bits = 64
	}
	network, _ := address.Prefix(bits) // an error gives the zero network
	hash := maphash.Comparable(l.seed, struct {
		brand   uuid.UUID
		network netip.Prefix
	}{brand, network})
	return l.addresses[hash%addressHashes]
}

func (l *limits) site(brand uuid.UUID) *rate.Limiter {
	l.mu.RLock()
	site := l.sites[brand]
	l.mu.RUnlock()
	if site != nil {
		return site
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sites[brand] == nil {
		l.sites[brand] = rate.NewLimiter(rate.Limit(l.perSecond), l.perSecond)
	}
	return l.sites[brand]
}
