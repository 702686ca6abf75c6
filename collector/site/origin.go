package site

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// OriginHost is the host of an Origin header in the form that domains are kept in: lower case, punycode, without port
// and without one trailing dot. ok is false unless origin is a plain http(s)://host[:port]: of "null", of anything with
// a user, a path, a list, a wildcard or an empty label.
func OriginHost(origin string) (host string, ok bool) {
	rest, ok := afterScheme(origin)
	if !ok {
		return "", false
	}
	return authorityHost(rest)
}

// ParsePage takes a page's URL apart: its host as OriginHost has it; its path, "" or text that begins with '/', and its
// query without the question mark, both as written. ok is false unless url is an absolute http(s) URL; also where it
// has a user.
func ParsePage(url string) (host, path, query string, ok bool) {
	after, ok := afterScheme(url)
	if !ok {
		return "", "", "", false
	}
	end := strings.IndexAny(after, "/?#") // browsers take \ for / here, and never write one: no host has it
	if end < 0 {
		end = len(after)
	}
	if host, ok = authorityHost(after[:end]); !ok {
		return "", "", "", false
	}
	path, _, _ = strings.Cut(after[end:], "#")
	path, query, _ = strings.Cut(path, "?")
	return host, path, query, true
}

// afterScheme is what follows http:// or https://, in any case.
func afterScheme(url string) (rest string, ok bool) {
	for _, scheme := range [...]string{"https://", "http://"} {
		if len(url) > len(scheme) && strings.EqualFold(url[:len(scheme)], scheme) {
			return url[len(scheme):], true
		}
	}
	return "", false
}

// authorityHost is the host of host[:port], normal.
func authorityHost(authority string) (host string, ok bool) {
	host = authority
	if at := strings.LastIndexByte(authority, ':'); at >= 0 && !strings.HasSuffix(authority, "]") {
		port := authority[at+1:]
		if _, err := strconv.ParseUint(port, 10, 16); err != nil || len(port) > 5 {
			return "", false
		}
		host = authority[:at]
	}
	return normal(host)
}

// international maps names as browsers do (UTS 46, non-transitional), so that of two
// writings of a name there is one that is compared.
var international = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.BidiRule())

// mostHost bounds a host in bytes before it is mapped, which takes a time that grows with
// its square: 254 characters are the most that there can be, of four bytes.
const mostHost = 4 * 254

// normal is a host name in lower case and punycode, without one trailing dot. It
// allocates nothing for one that is. An address of IPv6 is none: it is no brand's domain.
func normal(host string) (string, bool) {
	if len(host) > mostHost {
		return "", false
	}
	ascii, lower := true, true
	for i := range len(host) {
		ascii = ascii && host[i] < 0x80
		lower = lower && (host[i] < 'A' || host[i] > 'Z')
	}
	if !ascii {
		mapped, err := international.ToASCII(host)
		if err != nil || !utf8.ValidString(host) {
			return "", false
		}
		host, lower = mapped, false
	}
	if !lower {
		host = strings.ToLower(host)
	}
	host = strings.TrimSuffix(host, ".")
	if !isHost(host) {
		return "", false
	}
	return host, true
}

// isHost reports whether host is a name of labels of letters, digits, hyphens and
// underscores, or an IPv4 address as browsers write it.
func isHost(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	label := 0 // its length so far
	for i := range len(host) {
		switch c := host[i]; {
		case c == '.':
			if label == 0 {
				return false
			}
			label = 0
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
			if label++; label > 63 {
				return false
			}
		default:
			return false
		}
	}
	if label > 0 && endsInNumber(host) {
		_, err := netip.ParseAddr(host)
		return err == nil
	}
	return label > 0
}

// endsInNumber reports whether browsers read host as an IPv4 address, or as nothing at all: the last label is a number.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if digits, hex := strings.CutPrefix(last, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
