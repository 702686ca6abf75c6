// Package referral names the AI platform that sent a visit.
//
// Its table is the file platforms.json, which the pixel's generator reads too. A host of the table stands for itself
// and the names below it, never for a name that merely contains it.
package referral

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The evidence for the platform of a visit, in the visit's record.
const (
	ByReferrer    = "referrer"     // the referrer's host
	ByUTM         = "utm"          // utm_source of the page's URL
	ByParameter   = "parameter"    // another parameter of the page's URL, such as referrer=grok.com
	ByReferrerUTM = "referrer_utm" // utm_source of the referrer's URL
	BySession     = "session"      // nothing of this view: the first one of its session named it
)

// Detect returns the slug of the platform that sent a visit, and the evidence, in the order of the constants above;
// both are "" for a visit that no known platform sent. Query is the raw query of the page's URL, with or without its
// question mark; host, path and referrerQuery are the referrer's, as of site.ParsePage. Detect does not allocate.
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

// OfApp returns the slug of the platform whose app for Android has a package name, "" for another app's. A page that an
// app opens has the referrer android-app://PACKAGE/.
func OfApp(name string) string { return index.apps[name] }

// ofHost looks up a host, then each name above it, until one is in the table. Path is "" where it is not known.
func ofHost(host []byte, path string) string {
	for more := true; more; {
		for _, row := range index.hosts[string(host)] {
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

// ofQuery returns the platform that utm_source names, and the one that another parameter of the table names. Of several
// utm_source the first one of the table counts: a platform appends its own to a link that has one.
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
		if values := index.parameters[string(lower)]; values != nil && parameter == "" {
			if unescaped, ok := unescape(space[maxName:maxName], value); ok {
				parameter = values[string(unescaped)]
			}
		}
	}
	return utm, parameter
}

// ofUTM looks up a value of utm_source: a word of the table, or a host with any port and path.
func ofUTM(value string) string {
	var space [maxHost]byte
	lower, ok := unescape(space[:0], value)
	if !ok {
		return ""
	}
	if i := bytes.IndexAny(lower, "/:"); i >= 0 {
		lower = lower[:i]
	}
	if slug, ok := index.utm[string(lower)]; ok {
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
// An invalid escape is taken as it is. ok is false when the text does not fit, and so is no key.
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

// hex returns the value of a hexadecimal digit, 16 or more of another byte.
func hex(c byte) byte {
	switch c = lower(c); {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

// plain reports whether a browser could have written a name in lower case: labels of letters, digits, hyphens and
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

// A Platform is one row of the table: an AI platform and the evidence that it sent a visit.
type Platform struct {
	Slug       string      // in records and the API; also a value of utm_source
	Name       string      // for people
	Hosts      []Host      // of its referrers
	UTM        []string    // values of utm_source besides Slug and the hosts without a path, lower case
	Parameters []Parameter // of the page's URL
	Apps       []string    // packages of Android, whose apps are the referrer of pages that they open
}

// A Host matches itself and every name below it.
type Host struct {
	Name string // lower case
	Path string // "" any; else the referrer's path must be this one or below it
}

// A Parameter of a page's URL, which matches in any case.
type Parameter struct {
	Name, Value string // lower case
}

// Table returns all platforms, in the order of the file platforms.json, in a list of the caller's own.
func Table() []Platform {
	return mustRead(platformsJSON)
}

// Known reports whether slug names a platform of the table, in lower case.
func Known(slug string) bool {
	_, ok := index.slugs[slug]
	return ok
}

//go:embed platforms.json
var platformsJSON []byte

var index = newLookup(mustRead(platformsJSON))

// A lookup is the table by its keys, which are lower case.
type lookup struct {
	slugs      map[string]struct{}
	apps       map[string]string            // by package
	hosts      map[string][]pathSlug        // by host
	utm        map[string]string            // by value; hosts are in hosts
	parameters map[string]map[string]string // by name, then value
}

// A pathSlug is the platform of a path of a host.
type pathSlug struct{ path, slug string }

func newLookup(table []Platform) lookup {
	l := lookup{
		map[string]struct{}{}, map[string]string{}, map[string][]pathSlug{}, map[string]string{},
		map[string]map[string]string{},
	}
	for _, platform := range table {
		l.slugs[platform.Slug] = struct{}{}
		l.utm[platform.Slug] = platform.Slug
		for _, app := range platform.Apps {
			l.apps[app] = platform.Slug
		}
		for _, value := range platform.UTM {
			l.utm[value] = platform.Slug
		}
		for _, host := range platform.Hosts {
			l.hosts[host.Name] = append(l.hosts[host.Name], pathSlug{host.Path, platform.Slug})
		}
		for _, parameter := range platform.Parameters {
			if l.parameters[parameter.Name] == nil {
				l.parameters[parameter.Name] = map[string]string{}
			}
			l.parameters[parameter.Name][parameter.Value] = platform.Slug
		}
	}
	for _, rows := range l.hosts { // the narrowest path first
		slices.SortFunc(rows, func(a, b pathSlug) int { return len(b.path) - len(a.path) })
	}
	return l
}

// mustRead reads the embedded table: a wrong one fails every test of this package.
func mustRead(file []byte) []Platform {
	var table []Platform
	if err := json.Unmarshal(file, &table); err != nil {
		panic(fmt.Errorf("read platforms.json: %w", err))
	}
	return table
}

// UnmarshalText reads name, or name/path.
func (h *Host) UnmarshalText(text []byte) error {
	h.Name = string(text)
	if slash := strings.IndexByte(h.Name, '/'); slash >= 0 {
		h.Name, h.Path = h.Name[:slash], h.Name[slash:]
	}
	return nil
}

// UnmarshalText reads name=value.
func (p *Parameter) UnmarshalText(text []byte) error {
	p.Name, p.Value, _ = strings.Cut(string(text), "=")
	return nil
}
