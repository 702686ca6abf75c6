package extract

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/answerscope/answerscope/ingest/event"
)

// source is the page of a citation, in the form in which it is counted; without a host it is none.
type source struct {
	url, host string
	cited     bool
}

// sourceOf reads a citation. A citation of a redirect belongs to the page in its address; where a redirect of Gemini
// has none, its owner is unknown, and it is not counted as cited.
func sourceOf(c *event.Citation) source {
	address, ok := destination(c.URL, c.Title)
	url, host, _ := normalise(address)
	return source{url, host, c.Cited && ok}
}

// formerSourceOf is sourceOf of version 3.
func formerSourceOf(c *event.Citation) source {
	asWritten := func(text string) string { return text }
	url, host, _ := normaliseBy(c.URL, asWritten, asWritten)
	return source{url, host, c.Cited}
}

// normalise returns the form in which a cited URL is counted, and its host; ok is false if it is not http or https with
// a host.
//
// Dropped are one leading www., a trailing dot, a default port and userinfo of the host, the fragment, all trailing
// slashes of the path, empty parameters and an empty query, and the parameters that only follow a click. Scheme and
// host are lower case, the host in punycode. Path and query have the spelling of event.Path and event.Escapes. All else
// stays, in order.
func normalise(raw string) (url, host string, ok bool) {
	return normaliseBy(raw, event.Path, event.Escapes)
}

func normaliseBy(raw string, spellPath, spellQuery func(string) string) (url, host string, ok bool) {
	raw = strings.TrimSpace(raw)
	scheme, rest, ok := cutScheme(raw)
	if !ok {
		return "", "", false
	}
	rest, _, _ = strings.Cut(rest, "#")
	authority, path, query := rest, "", ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, path = rest[:i], rest[i:]
		path, query, _ = strings.Cut(path, "?")
	}
	host, port, ok := hostOf(authority)
	if !ok {
		return "", "", false
	}
	var out strings.Builder
	out.Grow(len(raw))
	out.WriteString(scheme)
	out.WriteString("://")
	out.WriteString(host)
	if port != "" && port != defaultPort[scheme] {
		out.WriteByte(':')
		out.WriteString(port)
	}
	out.WriteString(strings.TrimRight(spellPath(path), "/"))
	writeQuery(&out, spellQuery(query))
	return out.String(), host, true
}

var defaultPort = map[string]string{"http": "80", "https": "443"}

func cutScheme(raw string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	return scheme, rest, ok && (scheme == "http" || scheme == "https")
}

// hostOf reads [userinfo@]host[:port]. An address of IPv6 keeps its brackets.
func hostOf(authority string) (host, port string, ok bool) {
	host = authority[strings.LastIndexByte(authority, '@')+1:]
	if len(host) > 4*maxHost {
		return "", "", false
	}
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], host[i+1:]
	}
	if !isHostText(host) || !isPort(port) {
		return "", "", false
	}
	host = strings.TrimPrefix(strings.TrimSuffix(asciiHost(host), "."), "www.")
	return host, port, host != "" && len(host) <= maxHost
}

// isPort reports whether a text may follow the colon; it may be empty.
func isPort(port string) bool {
	if port == "" {
		return true
	}
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}

// isHostText reports whether a text can be a host or an address in brackets: it has no white space, control characters
// and other characters that the URL Standard forbids in a domain.
func isHostText(host string) bool {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		_, err := netip.ParseAddr(inner)
		return closed && err == nil
	}
	for i := range len(host) {
		if c := host[i]; c <= ' ' || c == 0x7F || strings.IndexByte(`:[]<>\^|%"`, c) >= 0 {
			return false
		}
	}
	return true
}

// maxHost bounds a host name, in bytes of its ASCII form.
const maxHost = 253

// asciiHost is host in lower case, and in punycode by UTS 46 if it is not ASCII. A host that UTS 46 refuses is encoded
// without mapping.
func asciiHost(host string) string {
	if isASCII(host) {
		return strings.ToLower(host)
	}
	if mapped, err := hostProfile.ToASCII(host); err == nil {
		return mapped
	}
	if encoded, err := idna.Punycode.ToASCII(strings.ToLower(host)); err == nil {
		return encoded
	}
	return strings.ToLower(host)
}

// hostProfile maps a host as browsers do: non-transitional UTS 46, without limits to ASCII characters.
var hostProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

func writeQuery(out *strings.Builder, query string) {
	separator := byte('?')
	for query != "" {
		var parameter string
		parameter, query, _ = strings.Cut(query, "&")
		name, _, _ := strings.Cut(parameter, "=")
		if parameter == "" || isClickParameter(name) {
			continue
		}
		out.WriteByte(separator)
		out.WriteString(parameter)
		separator = '&'
	}
}

// isClickParameter reports whether a parameter, in any case, tells how a visitor came and does not change the page.
func isClickParameter(name string) bool {
	if len(name) >= len("utm_") && strings.EqualFold(name[:len("utm_")], "utm_") {
		return true
	}
	if len(name) > len("li_fat_id") {
		return false
	}
	switch strings.ToLower(name) {
	case "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "ttclid", "li_fat_id",
		"igshid", "mc_cid", "mc_eid", "srsltid", "_ga", "_gl":
		return true
	}
	return false
}

// registrable is the registered domain by the public-suffix list with its private section, or host itself if it has
// none, as an address or a public suffix.
func registrable(host string) string {
	if host == "" || host[0] == '[' || isAddress(host) {
		return host
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return domain
}

func isAddress(host string) bool {
	if c := host[len(host)-1]; c < '0' || '9' < c {
		return false
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// ownDomain is an entity's domain in the form of a host of normalise; "" for a public suffix such as github.io, under
// which anybody may have a site. The collector leaves those out too.
func ownDomain(domain string) string {
	domain = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(domain)), ".")
	domain = strings.TrimPrefix(domain, "www.")
	if suffix, _ := publicsuffix.PublicSuffix(domain); suffix == domain && strings.Contains(domain, ".") {
		return ""
	}
	return domain
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
