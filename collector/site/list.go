package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/net/publicsuffix"

	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Site is a brand with the hosts that are its own. It never changes: an edit makes another one.
type Site struct {
	OrganizationID uuid.UUID
	BrandID        uuid.UUID
	domains        []string // in order; lower case, punycode
}

// Allows reports whether host, as OriginHost and ParsePage give it, is one of the site's domains or under one. It
// allocates nothing.
func (s *Site) Allows(host string) bool {
	return upwards(host, func(domain string) bool {
		_, found := slices.BinarySearch(s.domains, domain)
		return found
	})
}

// upwards reports whether is holds for host or for a name that host is under. Nothing is under a part of an address.
func upwards(host string, is func(domain string) bool) bool {
	if endsInNumber(host) { // also without a host
		return host != "" && is(host)
	}
	for more := true; more; {
		if is(host) {
			return true
		}
		_, host, more = strings.Cut(host, ".")
	}
	return false
}

// A list is every site at one moment.
type list struct {
	sites   map[uuid.UUID]*Site
	domains map[string]struct{} // of all sites
	rows    []postgres.Site     // what it was made of
}

// newList leaves out domains that are no hosts, and public suffixes such as co.uk and github.io, under which anybody
// may have a site.
func newList(rows []postgres.Site) *list {
	l := &list{sites: make(map[uuid.UUID]*Site, len(rows)), domains: map[string]struct{}{}, rows: rows}
	for _, row := range rows {
		s := &Site{OrganizationID: row.OrganizationID, BrandID: row.BrandID}
		for _, domain := range row.Domains {
			if host, ok := normal(domain); ok && !isPublicSuffix(host) {
				s.domains = append(s.domains, host)
				l.domains[host] = struct{}{}
			}
		}
		slices.Sort(s.domains)
		l.sites[row.BrandID] = s
	}
	return l
}

// isPublicSuffix is false of addresses, and of a name without a dot that is no registry's, such as localhost.
func isPublicSuffix(host string) bool {
	suffix, registry := publicsuffix.PublicSuffix(host)
	return suffix == host && (registry || strings.Contains(host, ".")) && !endsInNumber(host)
}

// same reports whether two lists in the order of ids say the same.
func same(a, b []postgres.Site) bool {
	return slices.EqualFunc(a, b, func(a, b postgres.Site) bool {
		return a.BrandID == b.BrandID && a.OrganizationID == b.OrganizationID && slices.Equal(a.Domains, b.Domains)
	})
}

// The file is one line of JSON below a line with its kind and the SHA-256 of the rest: a list that was cut short must
// not pass for one of fewer domains.
const fileTitle = "answerscope sites 1 "

// save replaces the file; after a crash or a loss of power it is the old one or the new one.
func save(path string, rows []postgres.Site) error {
	body, err := json.Marshal(rows)
	if err == nil {
		err = disk.MakeDir(filepath.Dir(path))
	}
	if err == nil {
		err = disk.ReplaceFile(path, fmt.Appendf(nil, "%s%x\n%s\n", fileTitle, sha256.Sum256(body), body), 0o600)
	}
	if err != nil {
		return fmt.Errorf("save sites: %w", err)
	}
	return nil
}

// load reads what save wrote; nil without an error where there is no file, as of "".
func load(path string) ([]postgres.Site, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read sites: %w", err)
	}
	rows, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read sites %s: %w", path, err)
	}
	return rows, nil
}

func parse(text []byte) ([]postgres.Site, error) {
	head, body, _ := bytes.Cut(text, []byte{'\n'})
	sum, ok := bytes.CutPrefix(head, []byte(fileTitle))
	if !ok {
		return nil, errors.New("not a list of sites")
	}
	body = bytes.TrimSuffix(body, []byte{'\n'})
	if fmt.Sprintf("%x", sha256.Sum256(body)) != string(sum) {
		return nil, errors.New("the list is damaged")
	}
	rows := []postgres.Site{}
	if err := json.Unmarshal(body, &rows); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return rows, nil
}
