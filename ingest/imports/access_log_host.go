package imports

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// An origin has the two ends of a request, by the fields around it in a line of the combined format.
type origin struct {
	host    string     // the virtual host; "-": its field is empty; "": there is no such field
	name    string     // the host or the requester, which only the rest of the log decides
	address netip.Addr // the requester's; invalid: absent, hidden, or of a list
}

// errOrigin quotes nothing of the line: the words may have an address.
var errOrigin = errors.New("words before [time]: want [host] address identity user, perhaps behind the prefix of a " +
	"program that collects logs")

// readOrigin reads the words before the time. The host is the word before the requester's address, or stands where the
// format has identity and user, which no crawler sends. The words of other layouts are no guess at a host: the error
// refuses them.
func readOrigin(before string) (origin, error) {
	words := withoutPrefix(strings.Fields(strings.ReplaceAll(before, `"`, "")))
	if len(words) == 0 {
		return origin{}, errOrigin
	}
	if address, size, ok := requester(words); ok {
		switch next, _, isAddress := requester(words[size:]); {
		case words[0] == "-" && isAddress && next.IsValid():
			return origin{host: "-", address: next}, nil
		case isAddress && next.IsValid(): // the site's or a proxy's may be the first
			return origin{host: hostAmong(words[size+1:])}, nil
		}
		return origin{host: hostAmong(words[size:]), address: address}, nil
	}
	if !isName(words[0]) && words[0] != "localhost" && words[0] != "_" { // the name of nginx's default server
		return origin{}, errOrigin
	}
	address, size, ok := requester(words[1:])
	isDashed := len(words) > 3 && words[1] == "-" && words[2] == "-" // the address is left out
	switch {
	case ok && words[1] != "-", isDashed, len(words) > 3 && isName(words[1]):
		return origin{host: words[0], address: address}, nil
	case ok:
		return origin{host: hostAmong(words[1+size:]), name: words[0]}, nil
	case len(words) > 1 && isHostName(words[1]):
		return origin{host: words[1]}, nil
	}
	return origin{}, errOrigin
}

// requester reads the address that words begin with, and how many of them it takes. It is invalid where a hyphen or a
// socket stands for it, and of a list with commas, as proxies write them: anybody may have written the first.
func requester(words []string) (address netip.Addr, size int, ok bool) {
	for size < len(words) && strings.HasSuffix(words[size], ",") {
		size++
	}
	if size++; size > len(words) {
		return netip.Addr{}, 0, false
	}
	if size > 1 || strings.Contains(words[0], ",") || words[0] == "-" || words[0] == "unix:" {
		return netip.Addr{}, size, true
	}
	address, ok = parseAddress(words[0])
	return address, size, ok
}

// parseAddress reads an address, perhaps with a port, as balancers write it.
func parseAddress(text string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return address.Unmap(), true
	}
	socket, err := netip.ParseAddrPort(text)
	return socket.Addr().Unmap(), err == nil // invalid with an error
}

// hostAmong returns the first host of some words; "" if there is none.
func hostAmong(words []string) string {
	if i := slices.IndexFunc(words, isHostName); i >= 0 {
		return words[i]
	}
	return ""
}

// inner are the endings of names that machines of a private network have, and no site.
var inner = []string{".internal", ".local", ".localdomain", ".lan", ".home.arpa"}

// isHostName reports whether a word can be the name of a site, perhaps with a port.
func isHostName(word string) bool {
	name := strings.ToLower(cutPort(word))
	isInner := func(ending string) bool { return strings.HasSuffix(name, ending) }
	return isName(word) && !slices.ContainsFunc(inner, isInner)
}

// isName reports whether a word is labels with dots between them, of which the last is no number, perhaps with a port.
func isName(word string) bool {
	name := cutPort(word)
	last := name[strings.LastIndexByte(name, '.')+1:]
	if len(name) > 4*253 || len(last) == len(name) || len(last) < 2 || strings.Trim(last, "0123456789") == "" ||
		name[0] == '.' || strings.Contains(name, "..") {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c < 0x80 && strings.IndexByte(`.-_\`, c) < 0 && !isAlphanumeric(c) {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// cutPort returns a host without port and trailing dot.
func cutPort(host string) string {
	if name, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	return strings.TrimSuffix(host, ".")
}

// trailingHost returns the host among the fields behind the User-Agent, quoted or not, perhaps as host=name.
func trailingHost(tail string) string {
	fields := strings.FieldsFunc(tail, func(r rune) bool { return strings.ContainsRune(" \t\",;|[]{}()", r) })
	for _, field := range fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			key, value = "", field
		}
		if key = strings.ToLower(key); key != "" && !strings.HasSuffix(key, "host") && key != "server_name" {
			continue
		}
		if isHostName(value) {
			return value
		}
	}
	return ""
}

// hostOfLog returns a host in the form of a brand's domains: lower case and punycode, without port. Servers escape
// bytes of a name as \xC3.
func hostOfLog(host string) string {
	host = cutPort(unescapeHex(host))
	if ascii, err := domainProfile.ToASCII(host); err == nil {
		host = ascii
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// unescapeHex decodes \xHH, as nginx and Apache write bytes.
func unescapeHex(text string) string {
	if !strings.Contains(text, `\x`) {
		return text
	}
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(text, `\x`)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		if c, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8); err == nil && len(after) > 1 {
			out.WriteByte(byte(c))
			after = after[2:]
		} else {
			out.WriteString(`\x`)
		}
		text = after
	}
}
