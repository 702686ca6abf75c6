package docs_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/ingest/imports"
)

// The examples of import.md are accepted, with every field.
func TestTheExamplesOfImportAreTaken(t *testing.T) {
	page, err := os.ReadFile("import.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string) string {
		_, rest, ok := strings.Cut(string(page), "```"+kind+"\n")
		text, _, ended := strings.Cut(rest, "```")
		if !ok || !ended {
			t.Fatalf("import.md has no %s", kind)
		}
		return text
	}
	brands, err := imports.ReadBrands(strings.NewReader(block("json")))
	if err != nil || len(brands) != 1 || len(brands[0].Competitors) != 2 {
		t.Errorf("brands: %+v, %v", brands, err)
	}
	var citations, products int
	lines := strings.Split(strings.TrimSpace(block("ndjson")), "\n")
	for n, line := range lines {
		capture, err := imports.Parse([]byte(line), time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Errorf("line %d: %v", n+1, err)
		}
		citations, products = citations+len(capture.Reply.Citations), products+len(capture.Reply.Products)
	}
	if len(lines) != 3 || citations != 2 || products != 1 {
		t.Errorf("%d lines with %d citations and %d products, want 3 with 2 and 1", len(lines), citations, products)
	}
}
