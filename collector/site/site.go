package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Site is a brand with its own hosts. It never changes: an edit makes another one.
type Site struct {
	OrganizationID uuid.UUID
	BrandID        uuid.UUID
	domains        []string // sorted; lower case, punycode
}

// Allows reports whether host, as OriginHost and ParsePage give it, is one of the site's domains or under one. It
// allocates nothing.
func (s *Site) Allows(host string) bool {
	return anyAbove(host, func(domain string) bool {
		_, ok := slices.BinarySearch(s.domains, domain)
		return ok
	})
}

// anyAbove reports whether is holds for host or for a name that host is under. Nothing is under a part of an address.
func anyAbove(host string, is func(domain string) bool) bool {
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
	rows    []postgres.Site     // of the control plane
}

// newList leaves out domains that are no hosts, and public suffixes such as co.uk and github.io, under which anyone may
// have a site.
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

// isPublicSuffix reports false for addresses, and for a name without a dot that is no registry's, such as localhost.
func isPublicSuffix(host string) bool {
	suffix, registry := publicsuffix.PublicSuffix(host)
	return suffix == host && (registry || strings.Contains(host, ".")) && !endsInNumber(host)
}

// same reports whether two lists in the order of ids are equal.
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

// load reads a file of save; nil without an error where the file does not exist, as of "".
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

// OriginHost returns the host of an Origin header in the form of a Site's domains: lower case, punycode, without port
// and without one trailing dot. ok is false unless origin is a plain http(s)://host[:port]: for "null", a user, a path,
// a list, a wildcard or an empty label.
func OriginHost(origin string) (host string, ok bool) {
	rest, ok := afterScheme(origin)
	if !ok {
		return "", false
	}
	return authorityHost(rest)
}

// ParsePage takes a page's URL apart: its host as of OriginHost; its path, "" or text that begins with '/', and its
// query without the question mark, both as written. ok is false unless url is an absolute http(s) URL without a user.
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

// ParseApp returns the package of an app for Android whose referrer is android-app://PACKAGE, perhaps with a path; ""
// for another referrer.
func ParseApp(referrer string) string {
	const scheme = "android-app://"
	if len(referrer) < len(scheme) || !strings.EqualFold(referrer[:len(scheme)], scheme) {
		return ""
	}
	name, _, _ := strings.Cut(referrer[len(scheme):], "/")
	for i := range len(name) {
		c := name[i]
		if c != '.' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return ""
		}
	}
	if len(name) > 253 {
		return ""
	}
	return name
}

// afterScheme returns the text after http:// or https://, in any case.
func afterScheme(url string) (rest string, ok bool) {
	for _, scheme := range [...]string{"https://", "http://"} {
		if len(url) > len(scheme) && strings.EqualFold(url[:len(scheme)], scheme) {
			return url[len(scheme):], true
		}
	}
	return "", false
}

// authorityHost returns the host of host[:port], normalized.
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

// international maps names as browsers do (UTS 46, non-transitional), so that different spellings of a name become one.
var international = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.BidiRule())

// maxHostBytes bounds a host before it is mapped, which takes a time that grows with its square: at most 254 characters
// of four bytes each.
const maxHostBytes = 4 * 254

// normal returns a host name in lower case and punycode, without one trailing dot. It allocates nothing for a name of
// that form. ok is false for an address of IPv6: it is no brand's domain.
func normal(host string) (string, bool) {
	if len(host) > maxHostBytes {
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

// isHost reports whether host is a name of labels of letters, digits, hyphens and underscores, or an IPv4 address as
// browsers write it.
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

// endsInNumber reports whether the last label is a number: browsers read such a host as an IPv4 address or refuse it.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if digits, hex := strings.CutPrefix(last, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
