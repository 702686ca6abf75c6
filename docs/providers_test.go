package docs_test

import (
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform/capture"
	"github.com/answerscope/answerscope/ingest/platform/catalog"
)

// The list of providers.md is what the platforms declare.
func TestProvidersAreThoseOfTheCode(t *testing.T) {
	text, err := os.ReadFile("providers.md")
	if err != nil {
		t.Fatal(err)
	}
	want := withItems(t, string(text), "Limits are those of a small account.\n\n", providerItems())
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatal("providers.md lacks what the code knows, or knows more; run with -update and review the change")
	}
	if err := os.WriteFile("providers.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The table of surfaces.md has every provider of every surface, with its price.
func TestSurfacesAreThoseOfTheCode(t *testing.T) {
	text, err := os.ReadFile("surfaces.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range capture.Surfaces() {
		_, row, _ := strings.Cut(string(text), "\n| `"+s.Slug+"` |")
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(row, "|")
		for i, p := range capture.Providers() {
			want := ""
			if slices.Contains(capture.Offers(s.Slug), p.Slug) {
				price := capture.Price(s.Slug, capture.Account{Provider: p.Slug}).PerThousandRequests
				amount, _ := new(big.Rat).SetString(price)
				want = strings.TrimSuffix(amount.FloatString(2), ".00")
			}
			if i >= len(cells) || !strings.HasPrefix(strings.TrimSpace(cells[i])+",", want+",") {
				t.Errorf("%s at %s: %q, want the price %q", s.Slug, p.Slug, cells, want)
			}
		}
	}
}

func providerItems() (items string) {
	for _, p := range catalog.All() {
		if !p.NeedsKey || len(p.Models) == 0 { // the latter are in surfaces.md
			continue
		}
		region := "takes no region"
		if p.TakesRegion {
			region = "takes a region"
		}
		items += fmt.Sprintf("- `%s` (%s): %s; %s. Models:", p.Slug, p.Name, region, p.Limits)
		for i, m := range p.Models {
			if i > 0 {
				items += ";"
			}
			items += " `" + m.Slug + "`"
			if m.Price != nil {
				items += fmt.Sprintf(" %s a million tokens in, %s out, %s a thousand searches (%s)",
					m.Price.PerMillionInputTokens, m.Price.PerMillionOutputTokens,
					m.Price.PerThousandSearches, m.Price.Date)
			}
		}
		items += "\n"
	}
	return wrapped(items)
}
