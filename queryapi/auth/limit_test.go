package auth

import (
	"net/netip"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func newSignIns() *Attempts[netip.Prefix] { return NewAttempts[netip.Prefix](maxSignIns, signInWindow) }

func TestThirtyTriesInAnyFiveMinutes(t *testing.T) {
	l, address := newSignIns(), networkOf(netip.MustParseAddr("192.0.2.1"))
	for n := range maxSignIns {
		if wait := l.take(address, noon.Add(time.Duration(n)*time.Second)); wait != 0 {
			t.Fatalf("try %d waits %s", n, wait)
		}
	}
	for range 2 { // a try that is refused does not count
		if wait := l.take(address, noon.Add(time.Minute)); wait != 4*time.Minute {
			t.Errorf("one too many waits %s", wait)
		}
	}
	if wait := l.take(address, noon.Add(5*time.Minute)); wait != 0 {
		t.Errorf("when the first is five minutes ago: %s", wait)
	}
	if wait := l.take(address, noon.Add(5*time.Minute)); wait != time.Second {
		t.Errorf("the next waits %s", wait)
	}
}

// An office signs in from one address: what succeeds does not count, what failed before still does.
func TestASuccessIsNoTry(t *testing.T) {
	l, address := newSignIns(), networkOf(netip.MustParseAddr("192.0.2.1"))
	for n := range 3 * maxSignIns {
		at := noon.Add(time.Duration(n) * time.Second)
		if wait := l.take(address, at); wait != 0 {
			t.Fatalf("sign-in %d waits %s", n, wait)
		}
		l.GiveBack(address, at)
	}
	if len(l.times) != 0 {
		t.Errorf("%d addresses are remembered", len(l.times))
	}
	failed := noon.Add(time.Hour)
	for n := range maxSignIns - 1 {
		l.take(address, failed)
		right := failed.Add(time.Duration(n+1) * time.Second) // by an account of the guesser's own
		l.take(address, right)
		l.GiveBack(address, right)
	}
	if wait := l.take(address, failed.Add(time.Minute)); wait != 0 {
		t.Errorf("the last of thirty failures waits %s", wait)
	}
	if wait := l.take(address, failed.Add(time.Minute)); wait != 4*time.Minute {
		t.Errorf("one more than thirty failures waits %s", wait)
	}
}

func TestANetworkOf64BitsIsOneAddress(t *testing.T) {
	l := newSignIns()
	for range maxSignIns {
		l.take(networkOf(netip.MustParseAddr("2001:db8::1")), noon)
	}
	for address, limited := range map[string]bool{
		"2001:db8::ffff:1": true, "2001:db8:0:1::1": false, "192.0.2.1": false, "192.0.2.2": false,
	} {
		if wait := l.take(networkOf(netip.MustParseAddr(address)), noon); (wait > 0) != limited {
			t.Errorf("%s waits %s", address, wait)
		}
	}
	for range maxSignIns {
		l.take(networkOf(netip.Addr{}), noon)
	}
	if l.take(networkOf(netip.Addr{}), noon) == 0 {
		t.Error("requests of no address are not limited")
	}
}

func TestAddressesTakeNoMemoryForLong(t *testing.T) {
	l := newSignIns()
	address := netip.MustParseAddr("10.0.0.0")
	for n := range 3 * maxRemembered {
		l.take(networkOf(address), noon.Add(time.Duration(n)*time.Millisecond))
		address = address.Next()
	}
	if len(l.times) > maxRemembered {
		t.Errorf("%d addresses are remembered", len(l.times))
	}
	l.take(networkOf(address.Next()), noon.Add(time.Hour))
	if len(l.times) != 1 {
		t.Errorf("%d addresses are remembered an hour later", len(l.times))
	}
}
