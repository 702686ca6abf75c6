package metrics

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
)

const (
	// keptFor bounds how long a body is kept: what changes the warehouse and is not noted, such as a month that expires,
	// an edit by hand or the last batch of a process that died, shows after that.
	keptFor = time.Minute
	// keptOrganizations is of how many organizations bodies are kept at most.
	keptOrganizations = 64
)

// kept are responses of the present version of the warehouse, so that a repeated question costs it nothing. An
// organization that has too many bytes of them loses all of its own; where there are too many organizations, the one
// whose newest response is oldest loses its.
type kept struct {
	most int // bytes of one organization

	mu sync.Mutex
	of map[uuid.UUID]*keptBodies
}

// keptBodies are those of one organization, all of one version.
type keptBodies struct {
	version int64
	bytes   int
	newest  time.Time
	bodies  map[request]keptBody
}

type keptBody struct {
	rendered
	at time.Time
}

// find gives the response to a request that was answered over the same version. Version 0 keeps nothing.
func (k *kept) find(organization uuid.UUID, version int64, asked request, now time.Time) (rendered, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	own := k.of[organization]
	if version == 0 || own == nil || own.version != version {
		return rendered{}, false
	}
	found, ok := own.bodies[asked]
	return found.rendered, ok && now.Sub(found.at) < keptFor
}

// keep keeps a response that was made after version was read.
func (k *kept) keep(organization uuid.UUID, version int64, asked request, made rendered, now time.Time) {
	size := sizeOf(asked, made)
	if version == 0 || size > k.most {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	own := k.of[organization]
	if own != nil && own.version > version {
		return // made of an older state
	}
	if own == nil && len(k.of) >= keptOrganizations {
		k.forgetOldest()
	}
	if own == nil || own.version < version {
		own = newKeptBodies(version)
		k.of[organization] = own
	}
	own.forget(asked)
	if own.bytes+size > k.most {
		*own = *newKeptBodies(version)
	}
	own.bytes += size
	own.newest = now
	own.bodies[asked] = keptBody{made, now}
}

func (k *kept) forgetOldest() {
	delete(k.of, slices.MinFunc(slices.Collect(maps.Keys(k.of)), func(a, b uuid.UUID) int { return k.of[a].newest.Compare(k.of[b].newest) }))
}

func newKeptBodies(version int64) *keptBodies {
	return &keptBodies{version: version, bodies: map[request]keptBody{}}
}

// forget makes room for a newer response to the same request.
func (b *keptBodies) forget(asked request) {
	if before, again := b.bodies[asked]; again {
		b.bytes -= sizeOf(asked, before.rendered)
		delete(b.bodies, asked)
	}
}

func sizeOf(asked request, made rendered) int { return len(made.body) + len(asked.query) }
