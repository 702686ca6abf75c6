package collector

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/uuid/v5"
)

// limits bounds the beacons a second of each site. It is the generic cell rate algorithm (GCRA, ITU-T I.371): of a site
// one number is kept, when its allowance would be whole again, and moved by one atomic operation. A site is found
// without a lock too: each shard is a map that never changes, replaced by a larger one when a site is new.
type limits struct {
	start   time.Time     // times are kept since then, by the monotonic clock
	each    time.Duration // what a beacon costs
	shards  [256]atomic.Pointer[shard]
	growing sync.Mutex
}

type shard map[uuid.UUID]*atomic.Int64

// allowance is how much may come at once: what may come in that time.
const allowance = time.Second

func newLimits(perSecond int, now time.Time) *limits {
	return &limits{start: now, each: time.Second / time.Duration(perSecond)}
}

// take lets n beacons of a site pass, or says how long to wait until they would.
func (l *limits) take(brand uuid.UUID, n int, now time.Time) (wait time.Duration) {
	whole := l.of(brand)
	at := int64(now.Sub(l.start))
	for {
		was := whole.Load()
		next := max(was, at) + int64(n)*int64(l.each)
		if over := next - at - int64(allowance); over > 0 {
			return time.Duration(over)
		}
		if whole.CompareAndSwap(was, next) {
			return 0
		}
	}
}

func (l *limits) of(brand uuid.UUID) *atomic.Int64 {
	in := &l.shards[brand[len(brand)-1]]
	if s := in.Load(); s != nil {
		if whole := (*s)[brand]; whole != nil {
			return whole
		}
	}
	l.growing.Lock()
	defer l.growing.Unlock()
	larger := shard{}
	if s := in.Load(); s != nil {
		if whole := (*s)[brand]; whole != nil {
			return whole
		}
		maps.Copy(larger, *s)
	}
	whole := new(atomic.Int64)
	larger[brand] = whole
	in.Store(&larger)
	return whole
}
