package referral

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Platform is one row of the table: an AI platform and what shows that it sent a visit.
type Platform struct {
	Slug       string      // what a visit's record and the API call it; also a value of utm_source
	Name       string      // for people
	Hosts      []Host      // of its referrers
	UTM        []string    // values of utm_source besides Slug and the hosts without a path, lower case
	Parameters []Parameter // of the page's URL
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

// Table returns all platforms, in the order of the file platforms.json. The caller may change what it gets.
func Table() []Platform {
	return mustRead(platformsJSON)
}

// Known reports whether slug names a platform of the table, in lower case.
func Known(slug string) bool {
	_, known := known.slugs[slug]
	return known
}

//go:embed platforms.json
var platformsJSON []byte

var known = index(mustRead(platformsJSON))

// A lookup is the table in the form that a visit is looked up in. Keys are lower case.
type lookup struct {
	slugs      map[string]struct{}
	hosts      map[string][]pathSlug        // by host
	utm        map[string]string            // by value; hosts are in hosts
	parameters map[string]map[string]string // by name, then value
}

// A pathSlug is the platform of a path of a host.
type pathSlug struct{ path, slug string }

func index(table []Platform) lookup {
	l := lookup{map[string]struct{}{}, map[string][]pathSlug{}, map[string]string{}, map[string]map[string]string{}}
	for _, platform := range table {
		l.slugs[platform.Slug] = struct{}{}
		l.utm[platform.Slug] = platform.Slug
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

// mustRead reads the table that is built in: a wrong one fails every test of this package.
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
