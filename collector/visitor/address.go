package visitor

import (
	"net/netip"
	"strings"
)

// Trusts reports whether remote is a proxy whose headers are believed.
func (v *Visitors) Trusts(remote netip.Addr) bool {
	remote = plain(remote)
	for _, p := range v.cfg.TrustedProxies {
		if p.Contains(remote) {
			return true
		}
	}
	return false
}

// Address is the visitor's: remote itself, or where remote is a trusted proxy the
// right-most hop of X-Forwarded-For (all its headers in order, joined by commas) that is
// none. Where that hop is no address it is the zero Addr: who it was is not known.
func (v *Visitors) Address(remote netip.Addr, forwardedFor string) netip.Addr {
	remote = plain(remote)
	for v.Trusts(remote) && strings.TrimSpace(forwardedFor) != "" {
		var hop string
		if comma := strings.LastIndexByte(forwardedFor, ','); comma >= 0 {
			forwardedFor, hop = forwardedFor[:comma], forwardedFor[comma+1:]
		} else {
			forwardedFor, hop = "", forwardedFor
		}
		remote = hopAddress(strings.TrimSpace(hop))
	}
	return remote
}

// hopAddress reads 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1] and [2001:db8::1]:80.
func hopAddress(hop string) netip.Addr {
	if with, err := netip.ParseAddrPort(hop); err == nil {
		return plain(with.Addr())
	}
	if bare, ok := strings.CutPrefix(hop, "["); ok {
		hop, ok = strings.CutSuffix(bare, "]")
		if !ok {
			return netip.Addr{}
		}
	}
	address, err := netip.ParseAddr(hop)
	if err != nil {
		return netip.Addr{}
	}
	return plain(address)
}

// plain is an address of one writing: IPv4 as such, and no zone, which is a name of the
// proxy's network card.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }
