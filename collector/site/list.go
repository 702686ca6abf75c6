package site

import (
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Site is a brand with the hosts that are its own. It never changes: an edit makes
// another one.
type Site struct {
	OrganizationID uuid.UUID
	BrandID        uuid.UUID
	domains        []string // in order; lower case, punycode
}

// Allows reports whether host, as OriginHost and PageHost give it, is one of the
// site's domains or under one. It allocates nothing.
func (s *Site) Allows(host string) bool {
	return upwards(host, func(domain string) bool {
		_, found := slices.BinarySearch(s.domains, domain)
		return found
	})
}

// upwards reports whether is holds for host or for a name that host is under. Nothing
// is under a part of an address.
func upwards(host string, is func(domain string) bool) bool {
	if host == "" || endsInNumber(host) {
		return host != "" && is(host)
	}
	for {
		if is(host) {
			return true
		}
		dot := strings.IndexByte(host, '.')
		if dot < 0 {
			return false
		}
		host = host[dot+1:]
	}
}

// A list is every site at one moment.
type list struct {
	sites   map[uuid.UUID]*Site
	domains map[string]struct{} // of all sites
	rows    []postgres.Site     // what it was made of
}

// newList leaves out domains that are no hosts: nothing could be under them.
func newList(rows []postgres.Site) *list {
	l := &list{sites: make(map[uuid.UUID]*Site, len(rows)), domains: map[string]struct{}{}, rows: rows}
	for _, row := range rows {
		s := &Site{OrganizationID: row.OrganizationID, BrandID: row.BrandID}
		for _, domain := range row.Domains {
			if host, ok := normal(domain); ok {
				s.domains = append(s.domains, host)
				l.domains[host] = struct{}{}
			}
		}
		slices.Sort(s.domains)
		l.sites[row.BrandID] = s
	}
	return l
}

// same reports whether two lists in the order of ids say the same.
func same(a, b []postgres.Site) bool {
	return slices.EqualFunc(a, b, func(a, b postgres.Site) bool {
		return a.BrandID == b.BrandID && a.OrganizationID == b.OrganizationID && slices.Equal(a.Domains, b.Domains)
	})
}
