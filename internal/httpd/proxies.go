package httpd

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Proxies are the trusted proxies, as the addresses that they connect from.
type Proxies []netip.Prefix

// ParseProxies reads prefixes and addresses, such as 10.0.0.0/8 and 192.0.2.1, and returns an error for each text that
// is neither.
func ParseProxies(texts []string) (p Proxies, err error) {
	var errs []error
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if address, notAddress := netip.ParseAddr(text); notAddress == nil {
			prefix, err = address.Unmap().Prefix(address.Unmap().BitLen())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%q: want an address or a prefix, such as 10.0.0.0/8", text))
		}
		p = append(p, prefix)
	}
	return p, errors.Join(errs...)
}

// Client is the address that a request comes from: its peer's, or that which trusted proxies forward for.
func (p Proxies) Client(c *fiber.Ctx) netip.Addr {
	forwarded := c.Request().Header.PeekAll(fiber.HeaderXForwardedFor)
	return p.Address(Peer(c), string(bytes.Join(forwarded, []byte(","))))
}

// Peer is the address at the other end of a request's connection.
func Peer(c *fiber.Ctx) netip.Addr {
	if tcp, ok := c.Context().RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr()
	}
	return netip.Addr{}
}

// Trust reports whether remote is a proxy whose headers are believed.
func (p Proxies) Trust(remote netip.Addr) bool {
	remote = plainAddress(remote)
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(remote) })
}

// Address returns the client's address: remote itself, or where remote is a trusted proxy the right-most hop of
// X-Forwarded-For (all its headers in order, joined by commas) that is no trusted proxy; the zero Addr where that hop
// is no address.
func (p Proxies) Address(remote netip.Addr, forwardedFor string) netip.Addr {
	remote = plainAddress(remote)
	for p.Trust(remote) && strings.TrimSpace(forwardedFor) != "" {
		comma := strings.LastIndexByte(forwardedFor, ',')
		remote = hopAddress(strings.TrimSpace(forwardedFor[comma+1:]))
		forwardedFor = forwardedFor[:max(comma, 0)]
	}
	return remote
}

// hopAddress reads 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1] and [2001:db8::1]:80.
func hopAddress(hop string) netip.Addr {
	if with, err := netip.ParseAddrPort(hop); err == nil {
		return plainAddress(with.Addr())
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
	return plainAddress(address)
}

// plainAddress is an address of one writing: IPv4 as such, and no zone, which is a name of the proxy's network card.
func plainAddress(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

// Bearer is the credential of an Authorization header of the scheme Bearer (RFC 6750), "" of any other.
func Bearer(authorization string) string {
	scheme, credential, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(credential)
}
