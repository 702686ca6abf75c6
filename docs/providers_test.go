package docs_test

import (
	"fmt"
	"os"
	"testing"

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

func providerItems() (items string) {
	for _, p := range catalog.All() {
		if !p.NeedsKey {
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
					m.Price.PerMillionInputTokens, m.Price.PerMillionOutputTokens, m.Price.PerThousandSearches, m.Price.Date)
			}
		}
		items += "\n"
	}
	return wrapped(items)
}
