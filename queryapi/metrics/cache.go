package metrics

import (
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
	"github.com/gofrs/uuid/v5"
	"github.com/maypok86/otter/v2"
)

const (
	// cachedFor bounds the age of a cached body. A change that draws no version of the warehouse, such as an edit by
	// hand, or dimensions whose mirror died after it had copied them, shows after that.
	cachedFor = time.Minute
	// maxCachedBody is the size of a cached body in bytes, so that few large ones do not replace many small ones.
	maxCachedBody = 1 << 20
)

// A responseCache holds encoded bodies, so that a repeated request costs the warehouse nothing. Frequent requests stay
// longest. A nil one holds none.
type responseCache struct {
	bodies *otter.Cache[cacheKey, cachedBody]
}

// A cacheKey is a request of an organization over one version of its data: bodies of older versions are not found
// again, and are evicted.
type cacheKey struct {
	organization uuid.UUID
	version      postgres.WarehouseVersion
	request
}

type cachedBody struct {
	rendered
	at time.Time
}

// newResponseCache returns a cache of so many bytes for all organizations.
func newResponseCache(bytes int) *responseCache {
	if bytes == 0 {
		return nil
	}
	return &responseCache{otter.Must(&otter.Options[cacheKey, cachedBody]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(key cacheKey, value cachedBody) uint32 { return uint32(len(key.query) + len(value.body)) },
	})}
}

func (c *responseCache) find(key cacheKey, now time.Time) (rendered, bool) {
	if c == nil {
		return rendered{}, false
	}
	cached, ok := c.bodies.GetIfPresent(key)
	return cached.rendered, ok && now.Sub(cached.at) < cachedFor
}

// add adds a body that was rendered after the version was read. A version that is not settled caches nothing: a batch
// may have changed the warehouse since.
func (c *responseCache) add(key cacheKey, body rendered, now time.Time) {
	if c != nil && key.version.Settled && len(body.body) <= maxCachedBody {
		c.bodies.Set(key, cachedBody{body, now})
	}
}
