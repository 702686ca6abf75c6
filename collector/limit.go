package collector

import (
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/time/rate"
)

// limits bounds the beacons a second of each site; up to a second's worth may come at once.
type limits struct {
	perSecond int
	mu        sync.RWMutex
	sites     map[uuid.UUID]*rate.Limiter // by brand
}

func newLimits(perSecond int) *limits {
	return &limits{perSecond: perSecond, sites: map[uuid.UUID]*rate.Limiter{}}
}

// take lets n beacons of a site pass, or says how long to wait until they would.
func (l *limits) take(brand uuid.UUID, n int, now time.Time) (wait time.Duration) {
	site := l.of(brand)
	if site.AllowN(now, n) {
		return 0
	}
	reserved := site.ReserveN(now, n)
	defer reserved.CancelAt(now)
	return reserved.DelayFrom(now) + time.Microsecond // its tokens are floats, which may lack one nanosecond's worth
}

func (l *limits) of(brand uuid.UUID) *rate.Limiter {
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
