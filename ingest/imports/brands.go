package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/uuid/v5"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/answerscope/answerscope/sql/postgres"
)

// brandSlugForm and slugLength are the store's rule for a slug; the store makes an absent one from the name. The length
// is no part of the expression: a hundred copies of the class take 25 ms of every process's start.
var brandSlugForm = regexp.MustCompile(`^[^\s\pC/?#%]+$`)

const (
	slugLength = 100
	brandsForm = "{\"brands\": [{name, slug, industry, region, language, aliases, domains, " +
		"competitors: [{name, aliases, domains}]}]}"
)

// ReadBrands reads brandsForm and normalises the domains. An unknown field is an error, since a misspelt one would
// silently leave out a brand's domains. All errors are joined.
func ReadBrands(r io.Reader) ([]postgres.NewBrand, error) {
	var file struct {
		Brands []postgres.NewBrand `json:"brands"`
	}
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("read brands: %w: want %s", err, brandsForm)
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
		place := fmt.Sprintf("brands[%d]", i)
		problems = append(problems, checkBrand(place, b)...)
		if b.Slug != "" && slugs[b.Slug] {
			problems = append(problems,
				fmt.Errorf("%s.slug %q: another brand of the file has it, want one of its own", place, b.Slug))
		}
		slugs[b.Slug] = true
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("read brands: %w", errors.Join(problems...))
	}
	return file.Brands, nil
}

func checkBrand(place string, b *postgres.NewBrand) []error {
	problems := checkEntity(place, b.Name, b.Aliases, b.Domains)
	if b.Slug != "" && (utf8.RuneCountInString(b.Slug) > slugLength || !brandSlugForm.MatchString(b.Slug)) {
		problems = append(problems, fmt.Errorf(
			"%s.slug %q: want up to %d characters without white space and / ? # %%", place, b.Slug, slugLength))
	}
	names := map[string]bool{}
	for i, c := range b.Competitors {
		place := fmt.Sprintf("%s.competitors[%d]", place, i)
		problems = append(problems, checkEntity(place, c.Name, c.Aliases, c.Domains)...)
		if names[c.Name] {
			problems = append(problems,
				fmt.Errorf("%s.name %q: another competitor of the brand has it, want one of its own", place, c.Name))
		}
		names[c.Name] = true
	}
	return problems
}

// checkEntity normalises domains in place.
func checkEntity(place, name string, aliases, domains []string) []error {
	var problems []error
	check := func(field string, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s.%s: %w", place, field, err))
		}
	}
	check("name", checkName(name))
	for i, alias := range aliases {
		check(fmt.Sprintf("aliases[%d]", i), checkName(alias))
	}
	for i, domain := range domains {
		host, err := Domain(domain)
		check(fmt.Sprintf("domains[%d]", i), err)
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
	label    = `[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?`
	hostForm = regexp.MustCompile(`^(localhost|(` + label + `\.)+` + label + `)$`)

	domainProfile = idna.New(
		idna.MapForLookup(), idna.Transitional(false), idna.CheckHyphens(false), idna.StrictDomainName(false))
)

// Domain normalises an address as Host does, and refuses a public suffix. The database, which does not have that list,
// accepts one by SQL or /rest/v1; collector/site and pipeline/extract ignore it.
func Domain(text string) (string, error) {
	host, err := Host(text)
	if err != nil {
		return "", err
	}
	if suffix, _ := publicsuffix.PublicSuffix(host); suffix == host && host != "localhost" && net.ParseIP(host) == nil {
		return "", fmt.Errorf("domain %q: anybody may have a site below it (publicsuffix.org): "+
			"want the brand's own, such as example.%s", text, host)
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

// A Gap is what a brand that exists lacks of a file's brand, and where the two differ.
type Gap struct {
	Added     []string // what Fill adds, as people read it
	Different []string // what stays as the brand has it

	edit        postgres.BrandEdit
	competitors []postgres.NewCompetitor // that are new
	edits       []postgres.NewCompetitor // the aliases and domains that competitors lack
}

// GapOf compares a file's brand with one that exists.
func GapOf(file postgres.NewBrand, brand postgres.Brand, snapshot postgres.Snapshot) (g Gap) {
	g.text("name", file.Name, brand.Name)
	g.edit.Industry = g.text("industry", file.Industry, brand.Industry)
	g.edit.Region = g.text("region", file.Region, brand.Region)
	g.edit.Language = g.text("language", file.Language, brand.Language)
	g.edit.Aliases.Add = g.list("aliases", file.Aliases, snapshot.Aliases)
	g.edit.Domains.Add = g.list("domains", file.Domains, snapshot.Domains)
	for _, c := range file.Competitors {
		hasName := func(current postgres.Competitor) bool { return current.Name == c.Name }
		i := slices.IndexFunc(snapshot.Competitors, hasName)
		if i < 0 {
			g.Added = append(g.Added, fmt.Sprintf("competitor %q", c.Name))
			g.competitors = append(g.competitors, c)
			continue
		}
		c.Aliases = g.list(fmt.Sprintf("competitor %q aliases", c.Name), c.Aliases, snapshot.Competitors[i].Aliases)
		c.Domains = g.list(fmt.Sprintf("competitor %q domains", c.Name), c.Domains, snapshot.Competitors[i].Domains)
		g.edits = append(g.edits, c)
	}
	return g
}

// text returns what a field lacks, nil if it has a value.
func (g *Gap) text(field, value, current string) *string {
	switch {
	case value == "" || value == current:
		return nil
	case current != "":
		g.Different = append(g.Different, fmt.Sprintf("%s %q (is %q)", field, value, current))
		return nil
	}
	g.Added = append(g.Added, fmt.Sprintf("%s %q", field, value))
	return &value
}

func (g *Gap) list(field string, values, current []string) (missing []string) {
	missing = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(current, v) })
	if len(missing) > 0 {
		g.Added = append(g.Added, field+" "+strings.Join(missing, ", "))
	}
	return missing
}

// Fill adds the missing parts to a brand. One that another import has added meanwhile is no error.
func (g *Gap) Fill(ctx context.Context, db *postgres.DB, brand uuid.UUID) error {
	if len(g.Added) == 0 {
		return nil
	}
	if err := db.EditBrand(ctx, brand, g.edit); err != nil {
		return err
	}
	for _, c := range g.competitors {
		err := db.AddCompetitor(ctx, brand, c)
		if _, exists := errors.AsType[postgres.ErrConflict](err); err != nil && !exists {
			return err
		}
	}
	for _, c := range g.edits {
		edit := postgres.CompetitorEdit{
			Aliases: postgres.ListEdit{Add: c.Aliases}, Domains: postgres.ListEdit{Add: c.Domains}}
		if err := db.EditCompetitor(ctx, brand, c.Name, edit); err != nil {
			return err
		}
	}
	return nil
}
