package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Prose is wrapped at 120 columns. Tables, code, headings and signatures cannot be.
func TestProseIsWrapped(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("found %d pages, %v", len(pages), err)
	}
	for _, page := range append(pages, "../README.md", "../ARCHITECTURE.md", "../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		code, number := false, 0
		for line := range strings.Lines(string(text)) {
			number++
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			fixed := code || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "`") || strings.HasPrefix(line, "![")
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 && !fixed {
				t.Errorf("%s:%d has %d columns, want at most 120", page, number, n)
			}
		}
	}
}
