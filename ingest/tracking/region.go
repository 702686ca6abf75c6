package tracking

import (
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// IsRegion reports whether a region is a country's code (ISO 3166-1) in lower case, or none.
func IsRegion(region string) bool { return region == countryOf(region) }

// countryOf is the code of a country in lower case; "": the text is none. What people write for Britain, uk, is gb.
func countryOf(text string) string {
	parsed, err := language.ParseRegion(text)
	if err != nil || len(text) != 2 || !parsed.IsCountry() {
		return ""
	}
	return strings.ToLower(parsed.Canonicalize().String())
}

// countries are regions as runs have them: what is no country is none.
func countries(regions []string) []string {
	var list []string
	for _, region := range regions {
		if country := countryOf(strings.TrimSpace(region)); !slices.Contains(list, country) {
			list = append(list, country)
		}
	}
	return list
}
