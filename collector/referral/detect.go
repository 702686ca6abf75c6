// Package referral names the AI platform that sent a visit.
//
// What it knows is the file platforms.json, which the pixel's generator reads too. A host of the table stands for
// itself and the names below it, never for a name that merely contains it.
package referral

import (
	"bytes"
	"strings"
)

// What named the platform of a visit, as it is in the visit's record.
const (
	ByReferrer    = "referrer"     // the referrer's host
	ByUTM         = "utm"          // utm_source of the page's URL
	ByParameter   = "parameter"    // another parameter of the page's URL, such as referrer=grok.com
	ByReferrerUTM = "referrer_utm" // utm_source of the referrer's URL
	BySession     = "session"      // nothing of this view: the first one of its session named it
)

// Detect returns the slug of the platform that sent a visit, and what named it, in the order of the constants above;
// both are "" for a visit that no known platform sent. Query is the raw query of the page's URL, with or without its
// question mark; referrer is a whole URL, or "". Whatever they hold, Detect does not fail, and it does not allocate.
func Detect(query, referrer string) (platform, by string) {
	host, path, referrerQuery := split(referrer)
	if slug := ofHost(host, path); slug != "" {
		return slug, ByReferrer
	}
	utm, parameter := ofQuery(query)
	switch {
	case utm != "":
		return utm, ByUTM
	case parameter != "":
		return parameter, ByParameter
	}
	if utm, _ := ofQuery(referrerQuery); utm != "" {
		return utm, ByReferrerUTM
	}
	return "", ""
}

// split takes an http(s) URL apart as far as Detect needs. One that no browser writes into a referrer, such as one with
// a user, is none.
func split(url string) (host, path, query string) {
	scheme, rest, found := strings.Cut(url, "://")
	if !found || !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
		return "", "", ""
	}
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		rest = rest[:i]
	}
	rest, query, _ = strings.Cut(rest, "?")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest, path = rest[:i], rest[i:]
	}
	if strings.Contains(rest, "@") {
		return "", "", ""
	}
	host, port, _ := strings.Cut(rest, ":")
	for _, c := range []byte(port) {
		if c < '0' || c > '9' {
			return "", "", ""
		}
	}
	return strings.TrimSuffix(host, "."), path, query
}

// ofHost looks up a host, then each name above it, until one is in the table. Path is "" where none is known.
func ofHost(host, path string) string {
	var space [maxHost]byte
	if lower, ok := fold(space[:0], host); ok {
		return ofLowerHost(lower, path)
	}
	return ""
}

func ofLowerHost(host []byte, path string) string {
	if !plain(host) {
		return ""
	}
	for more := true; more; {
		for _, row := range known.hosts[string(host)] {
			if below(path, row.path) {
				return row.slug
			}
		}
		_, host, more = bytes.Cut(host, dot)
	}
	return ""
}

var dot = []byte{'.'}

// below reports whether path is top or a path below it.
func below(path, top string) bool {
	rest, ok := strings.CutPrefix(path, top)
	return ok && (top == "" || rest == "" || rest[0] == '/')
}

// ofQuery is the platform that utm_source names, and the one that another known parameter names. Of several utm_source
// the first known one counts: a platform appends its own to a link that has one.
func ofQuery(query string) (utm, parameter string) {
	var space [maxName + maxHost]byte // one half for a name, the other for its value
	query = strings.TrimPrefix(query, "?")
	for query != "" && utm == "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		lower, ok := unescape(space[:0:maxName], name)
		if !ok || value == "" {
			continue
		}
		if string(lower) == "utm_source" {
			utm = ofUTM(value)
			continue
		}
		if values := known.parameters[string(lower)]; values != nil && parameter == "" {
			if given, ok := unescape(space[maxName:maxName], value); ok {
				parameter = values[string(given)]
			}
		}
	}
	return utm, parameter
}

// ofUTM looks up a value of utm_source: a word of the table, or a host, whatever port or path is behind it.
func ofUTM(value string) string {
	var space [maxHost]byte
	lower, ok := unescape(space[:0], value)
	if !ok {
		return ""
	}
	if i := bytes.IndexAny(lower, "/:"); i >= 0 {
		lower = lower[:i]
	}
	if slug, ok := known.utm[string(lower)]; ok {
		return slug
	}
	return ofLowerHost(lower, "")
}
