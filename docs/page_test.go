package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
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
	for _, page := range append(pages, "../README.md", "../ARCHITECTURE.md", "../CONTRIBUTING.md", "../SECURITY.md") {
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
			fixed := code || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") ||
				strings.HasPrefix(line, "`") || strings.HasPrefix(line, "![")
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 && !fixed {
				t.Errorf("%s:%d has %d columns, want at most 120", page, number, n)
			}
		}
	}
}

// ARCHITECTURE.md leads through the code file by file, so each file that it names exists. It may leave out leading
// folders.
func TestFilesThatArchitectureNamesExist(t *testing.T) {
	var files [][]string
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(name, "var")) {
			return fs.SkipDir
		}
		files = append(files, strings.Split(name, "/"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`([\\w*/]+\\.(?:go|sql|json|yaml))`").
		FindAllStringSubmatch(read(t, "../ARCHITECTURE.md"), -1)
	if len(names) < 30 {
		t.Fatalf("found %d names", len(names))
	}
	for _, name := range names {
		elements := strings.Count(name[1], "/") + 1
		exists := slices.ContainsFunc(files, func(file []string) bool {
			ok, _ := path.Match(name[1], strings.Join(file[max(0, len(file)-elements):], "/"))
			return ok
		})
		if !exists {
			t.Errorf("ARCHITECTURE.md names %s, which does not exist", name[1])
		}
	}
}
