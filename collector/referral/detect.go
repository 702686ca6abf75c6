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
// question mark; host, path and referrerQuery are the referrer's, as site.ParsePage has them. Whatever they hold,
// Detect does not fail, and it does not allocate.
func Detect(query, host, path, referrerQuery string) (platform, by string) {
	var space [maxHost]byte
	if slug := ofHost(append(space[:0], host...), path); slug != "" {
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

// ofHost looks up a host, then each name above it, until one is in the table. Path is "" where none is known.
func ofHost(host []byte, path string) string {
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
	if !plain(lower) {
		return ""
	}
	return ofHost(lower, "")
}

const (
	maxHost = 253 // bytes of a host's name (RFC 1035), longer than every value of the table
	maxName = 64  // bytes of a parameter's name, longer than every name of the table
)

// unescape appends a name or a value of a query, in lower case of ASCII alone: no key of the table has another letter.
// An escape that is none is taken as it is. It is not ok when the text does not fit, and so is no key.
func unescape(space []byte, text string) (unescaped []byte, ok bool) {
	for i := 0; i < len(text); i++ {
		if len(space) == cap(space) {
			return nil, false
		}
		c := text[i]
		switch {
		case c == '+':
			c = ' '
		case c == '%' && i+2 < len(text) && hex(text[i+1]) < 16 && hex(text[i+2]) < 16:
			c = hex(text[i+1])<<4 | hex(text[i+2])
			i += 2
		}
		space = append(space, lower(c))
	}
	return space, true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// hex is the value of a hexadecimal digit, 16 or more of another byte.
func hex(c byte) byte {
	switch c = lower(c); {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

// plain reports whether a name in lower case is one that a browser writes: labels of letters, digits, hyphens and
// underscores between dots. Others are no host here: "chatgpt.com" ends evil.example\.chatgpt.com, which a browser
// reads as evil.example.
func plain(host []byte) bool {
	label := 0
	for _, c := range host {
		switch {
		case c == '.' && label == 0:
			return false
		case c == '.':
			label = 0
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
			label++
		default:
			return false
		}
	}
	return label > 0
}
