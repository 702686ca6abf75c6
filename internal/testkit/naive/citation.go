package naive

import (
	"slices"
	"strings"
	"unicode"

	"github.com/answerscope/answerscope/ingest/event"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// cited returns the normalised URLs that an answer cites, each once, with their hosts.
func cited(citations []event.Citation) map[string]string {
	hosts := map[string]string{}
	for _, c := range citations {
		if !c.Cited {
			continue
		}
		if url, host := normalise(c.URL); host != "" {
			hosts[url] = host
		}
	}
	return hosts
}

// normalise returns "" for what is no http(s) URL with a host.
func normalise(raw string) (url, host string) {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(raw), "://")
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return "", ""
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path := rest, ""
	if at := strings.Index(rest, "/"); at >= 0 {
		authority, path = rest[:at], rest[at:]
	}
	authority = authority[strings.LastIndex(authority, "@")+1:]
	port := ""
	if at := strings.LastIndex(authority, ":"); at > strings.LastIndex(authority, "]") {
		authority, port = authority[:at], authority[at:]
	}
	if port == ":" || scheme == "http" && port == ":80" || scheme == "https" && port == ":443" {
		port = ""
	}
	host = strings.ToLower(authority)
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	host = strings.TrimPrefix(strings.TrimSuffix(host, "."), "www.")
	if strings.Trim(port, ":0123456789") != "" || len(port) > 6 || strings.ContainsAny(host, `<>\^|%"`) {
		return "", "" // no port is not a number, and no host holds these
	}
	if host == "" || strings.ContainsFunc(host, unicode.IsSpace) || strings.HasPrefix(host, "[") != strings.HasSuffix(host, "]") {
		return "", "" // what holds a space, or half an IPv6 address, is no host
	}
	url = scheme + "://" + host + port + strings.TrimSuffix(spelled(path), "/")
	if query = withoutClicks(reescaped(query)); query != "" {
		url += "?" + query
	}
	return url, host
}

var dropped = strings.Fields("gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid li_fat_id igshid mc_cid mc_eid srsltid _ga _gl")

func withoutClicks(query string) string {
	var parameters []string
	for p := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(strings.ToLower(p), "=")
		if p != "" && !strings.HasPrefix(name, "utm_") && !slices.Contains(dropped, name) {
			parameters = append(parameters, p)
		}
	}
	return strings.Join(parameters, "&")
}

// owned are the domains that are no public suffixes.
func owned(domains []string) []string {
	return slices.DeleteFunc(slices.Clone(domains), func(d string) bool {
		_, err := publicsuffix.EffectiveTLDPlusOne(d)
		return err != nil && strings.Contains(d, ".")
	})
}

// under counts the hosts that are, or are under, one of the domains.
func under(hosts map[string]string, domains []string) int {
	n := 0
	domains = owned(domains)
	for _, host := range hosts {
		if slices.ContainsFunc(domains, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) }) {
			n++
		}
	}
	return n
}
