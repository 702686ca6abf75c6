package identity

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// mostSignIns may fail from an address within signInWindow.
const (
	mostSignIns  = 30
	signInWindow = 5 * time.Minute

	mostAddresses = 10_000 // that are remembered
)

// limits remember when sign-ins were tried, and from where. A try counts before its password is checked, so that guesses
// that are sent at once count, and is given back if the password is right: an office, or everyone behind a proxy, shares
// an address. A success gives back its own try alone, so a guesser gains nothing by an account of his own. An IPv6 network of 64 bits counts as one address: its
// machines choose theirs.
type limits struct {
	mu    sync.Mutex
	tries map[netip.Prefix][]time.Time // oldest first, at most mostSignIns
}

func newLimits() *limits { return &limits{tries: map[netip.Prefix][]time.Time{}} }

// take counts a try, or says how long to wait until one is counted again.
func (l *limits) take(client netip.Addr, now time.Time) (wait time.Duration) {
	network := networkOf(client)
	l.mu.Lock()
	defer l.mu.Unlock()
	tries := l.tries[network]
	if len(tries) == mostSignIns {
		if wait = signInWindow - now.Sub(tries[0]); wait > 0 {
			return wait
		}
		tries = tries[1:]
	}
	if tries == nil {
		l.makeRoom(now)
	}
	l.tries[network] = append(tries, now)
	return 0
}

// giveBack forgets a try that was counted at a time.
func (l *limits) giveBack(client netip.Addr, at time.Time) {
	network := networkOf(client)
	l.mu.Lock()
	defer l.mu.Unlock()
	tries := l.tries[network]
	if i := slices.IndexFunc(tries, at.Equal); i >= 0 {
		tries = slices.Delete(tries, i, i+1)
	}
	l.tries[network] = tries
	if len(tries) == 0 {
		delete(l.tries, network)
	}
}

// networkOf is the network of an address that counts as one; of no address none, which all such clients share.
func networkOf(client netip.Addr) netip.Prefix {
	bits := client.BitLen()
	if client.Is6() {
		bits = 64
	}
	network, _ := client.Prefix(bits)
	return network
}

// makeRoom forgets those who have not tried for a while, and if that is not enough others, until half are left: so it
// is done rarely.
func (l *limits) makeRoom(now time.Time) {
	if len(l.tries) < mostAddresses {
		return
	}
	maps.DeleteFunc(l.tries, func(_ netip.Prefix, tries []time.Time) bool { return now.Sub(tries[len(tries)-1]) >= signInWindow })
	for network := range l.tries {
		if len(l.tries) <= mostAddresses/2 {
			return
		}
		delete(l.tries, network)
	}
}
