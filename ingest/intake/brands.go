package intake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
)

// BrandSpec is one brand of a brands file: what to create when it is missing.
type BrandSpec struct {
	Name        string           `json:"name"`
	Slug        string           `json:"slug"`
	Industry    string           `json:"industry"`
	Region      string           `json:"region"`
	Language    string           `json:"language"`
	Aliases     []string         `json:"aliases"`
	Domains     []string         `json:"domains"`
	Competitors []CompetitorSpec `json:"competitors"`
}

// CompetitorSpec is one competitor of a brand.
type CompetitorSpec struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
	Domains []string `json:"domains"`
}

// brandSlugForm is what a brand's slug may be where it is given, as the store says. An
// absent one is made from the name there.
var brandSlugForm = regexp.MustCompile(`^[^\s\pC/?#%]{1,100}$`)

// ReadBrands reads {"brands": [{name, slug, industry, region, language,
// aliases, domains, competitors: [{name, aliases, domains}]}]}. Domains come
// back normalised. A field that it does not know is an error, since a misspelt
// one would silently leave out a brand's domains. All errors are joined.
func ReadBrands(r io.Reader) ([]BrandSpec, error) {
	var file struct {
		Brands []BrandSpec `json:"brands"`
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
	var faults []error
	slugs := map[string]bool{}
	for i := range file.Brands {
		b := &file.Brands[i]
		at := fmt.Sprintf("brands[%d]", i)
		faults = append(faults, b.check(at)...)
		if b.Slug != "" && slugs[b.Slug] {
			faults = append(faults, fmt.Errorf("%s.slug %q: another brand of the file has it", at, b.Slug))
		}
		slugs[b.Slug] = true
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("read brands: %w", errors.Join(faults...))
	}
	return file.Brands, nil
}

func (b *BrandSpec) check(at string) []error {
	faults := checkEntity(at, b.Name, b.Aliases, b.Domains)
	if b.Slug != "" && !brandSlugForm.MatchString(b.Slug) {
		faults = append(faults, fmt.Errorf("%s.slug %q: want up to 100 characters without white space and / ? # %%", at, b.Slug))
	}
	names := map[string]bool{}
	for i, c := range b.Competitors {
		at := fmt.Sprintf("%s.competitors[%d]", at, i)
		faults = append(faults, checkEntity(at, c.Name, c.Aliases, c.Domains)...)
		if names[c.Name] {
			faults = append(faults, fmt.Errorf("%s.name %q: another competitor of the brand has it", at, c.Name))
		}
		names[c.Name] = true
	}
	return faults
}

// checkEntity normalises domains in place.
func checkEntity(at, name string, aliases, domains []string) []error {
	var faults []error
	if strings.TrimSpace(name) == "" {
		faults = append(faults, fmt.Errorf("%s.name: want a name", at))
	}
	for i, alias := range aliases {
		if strings.TrimSpace(alias) == "" {
			faults = append(faults, fmt.Errorf("%s.aliases[%d]: want a name", at, i))
		}
	}
	for i, domain := range domains {
		host, err := Domain(domain)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s.domains[%d]: %w", at, i, err))
		}
		domains[i] = host
	}
	return faults
}

// Domain normalises a host, or the host of a web address, as citations are:
// lower case, punycode, without a trailing dot and one leading "www.".
func Domain(text string) (string, error) {
	host := strings.TrimSpace(text)
	if u, err := url.Parse(host); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		host = u.Hostname()
	}
	host, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || !strings.Contains(host, ".") {
		return "", fmt.Errorf("domain %q: want a host such as example.com", text)
	}
	if bare, ok := strings.CutPrefix(host, "www."); ok && strings.Contains(bare, ".") {
		host = bare
	}
	return host, nil
}
