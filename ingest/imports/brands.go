package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/answerscope/answerscope/sql/postgres"
)

// brandSlugForm and slugLength are the store's rule for a slug that is given; the store makes an absent one from the
// name. The length is no part of the expression: a hundred copies of the class take 25 ms of every process's start.
var brandSlugForm = regexp.MustCompile(`^[^\s\pC/?#%]+$`)

const slugLength = 100

// ReadBrands reads {"brands": [{name, slug, industry, region, language, aliases, domains, competitors: [{name, aliases,
// domains}]}]} and normalises the domains. An unknown field is an error, since a misspelt one would silently leave out
// a brand's domains. All errors are joined.
func ReadBrands(r io.Reader) ([]postgres.NewBrand, error) {
	var file struct {
		Brands []postgres.NewBrand `json:"brands"`
	}
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("read brands: %w: want {\"brands\": [{name, slug, industry, region, language, aliases, domains, competitors: [{name, aliases, domains}]}]}", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read brands: more after the object: want one JSON object")
	}
	if len(file.Brands) == 0 {
		return nil, errors.New("read brands: no brands: want at least one under \"brands\"")
	}
	var problems []error
	slugs := map[string]bool{}
	for i := range file.Brands {
		b := &file.Brands[i]
		at := fmt.Sprintf("brands[%d]", i)
		problems = append(problems, checkBrand(at, b)...)
		if b.Slug != "" && slugs[b.Slug] {
			problems = append(problems, fmt.Errorf("%s.slug %q: another brand of the file has it, want one of its own", at, b.Slug))
		}
		slugs[b.Slug] = true
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("read brands: %w", errors.Join(problems...))
	}
	return file.Brands, nil
}

func checkBrand(at string, b *postgres.NewBrand) []error {
	problems := checkEntity(at, b.Name, b.Aliases, b.Domains)
	if b.Slug != "" && (utf8.RuneCountInString(b.Slug) > slugLength || !brandSlugForm.MatchString(b.Slug)) {
		problems = append(problems, fmt.Errorf("%s.slug %q: want up to %d characters without white space and / ? # %%", at, b.Slug, slugLength))
	}
	names := map[string]bool{}
	for i, c := range b.Competitors {
		at := fmt.Sprintf("%s.competitors[%d]", at, i)
		problems = append(problems, checkEntity(at, c.Name, c.Aliases, c.Domains)...)
		if names[c.Name] {
			problems = append(problems, fmt.Errorf("%s.name %q: another competitor of the brand has it, want one of its own", at, c.Name))
		}
		names[c.Name] = true
	}
	return problems
}

// checkEntity normalises domains in place.
func checkEntity(at, name string, aliases, domains []string) []error {
	var problems []error
	if wrong := checkName(name); wrong != nil {
		problems = append(problems, fmt.Errorf("%s.name: %w", at, wrong))
	}
	for i, alias := range aliases {
		if wrong := checkName(alias); wrong != nil {
			problems = append(problems, fmt.Errorf("%s.aliases[%d]: %w", at, i, wrong))
		}
	}
	for i, domain := range domains {
		host, err := Domain(domain)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s.domains[%d]: %w", at, i, err))
		}
		domains[i] = host
	}
	return problems
}

func checkName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("want a name")
	case !postgres.IsName(name):
		return fmt.Errorf("want a name of at most %d bytes without control characters", postgres.MaxName)
	}
	return nil
}

var (
	scheme   = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*:)?//`)
	port     = regexp.MustCompile(`:[0-9]*$`)
	hostForm = regexp.MustCompile(`^(localhost|([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)$`)

	domainProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.CheckHyphens(false), idna.StrictDomainName(false))
)

// Domain normalises an address as Host does, and refuses a public suffix. The database, which does not have that list,
// keeps one that comes by SQL or /rest/v1; it counts for nothing (collector/site, pipeline/extract).
func Domain(text string) (string, error) {
	host, err := Host(text)
	if err != nil {
		return "", err
	}
	if suffix, _ := publicsuffix.PublicSuffix(host); suffix == host && host != "localhost" && net.ParseIP(host) == nil {
		return "", fmt.Errorf("domain %q: anybody may have a site below it (publicsuffix.org): want the brand's own, such as example.%s", text, host)
	}
	return host, nil
}

// Host normalises a host, or the host of a web address, as private.domain_of of the database does: lower case,
// punycode, without a trailing dot and one leading "www.".
func Host(text string) (string, error) {
	host := scheme.ReplaceAllString(strings.TrimSpace(text), "")
	if end := strings.IndexAny(host, `/?#\`); end >= 0 {
		host = host[:end]
	}
	host = port.ReplaceAllString(host[strings.LastIndexByte(host, '@')+1:], "")
	ascii, err := domainProfile.ToASCII(host)
	host = strings.TrimSuffix(ascii, ".")
	if bare, ok := strings.CutPrefix(host, "www."); ok && strings.Contains(bare, ".") {
		host = bare
	}
	if err != nil || len(host) > 253 || !hostForm.MatchString(host) {
		return "", fmt.Errorf("domain %q: want a host such as example.com", text)
	}
	return host, nil
}

// Differences lists what a file says of a brand that exists and stays as it is, where the two differ.
func Differences(file postgres.NewBrand, brand postgres.Brand, kept postgres.Snapshot) []string {
	var found []string
	text := func(field, of, is string) {
		if of != "" && of != is {
			found = append(found, fmt.Sprintf("%s %q (is %q)", field, of, is))
		}
	}
	list := func(field string, of, is []string) {
		lacking := slices.DeleteFunc(slices.Clone(of), func(item string) bool { return slices.Contains(is, item) })
		if len(lacking) > 0 {
			found = append(found, field+" "+strings.Join(lacking, ", "))
		}
	}
	text("name", file.Name, brand.Name)
	text("industry", file.Industry, brand.Industry)
	text("region", file.Region, brand.Region)
	text("language", file.Language, brand.Language)
	list("aliases", file.Aliases, kept.Aliases)
	list("domains", file.Domains, kept.Domains)
	for _, c := range file.Competitors {
		i := slices.IndexFunc(kept.Competitors, func(k postgres.Competitor) bool { return k.Name == c.Name })
		if i < 0 {
			found = append(found, fmt.Sprintf("competitor %q", c.Name))
			continue
		}
		list(fmt.Sprintf("competitor %q aliases", c.Name), c.Aliases, kept.Competitors[i].Aliases)
		list(fmt.Sprintf("competitor %q domains", c.Name), c.Domains, kept.Competitors[i].Domains)
	}
	return found
}
