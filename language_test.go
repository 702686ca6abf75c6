package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

const (
	maxColumns  = 120
	tabColumns  = 4
	maxPhrases  = 5 // per 1,000 lines of comment
	maxBareName = 0
	maxWide     = 20
)

// apparatus holds the trees that the product does not link: benches, test kits and tools.
var apparatus = []string{
	"internal/bench", "internal/testkit", "internal/system", "collector/script/minify",
	"queryapi/web/bundle", "docs", "deploy/sbom",
}

// evasions matches relative clauses and turns of phrase that stand where the field has a noun or a verb.
var evasions = regexp.MustCompile(`(?i)\b(what (is|was|are|were|has|have|it|they|one)|says?|those of|` +
	`that of|whatever|whoever|whosever|nobody|for ever|of late|all the same|lets? go|has it|in whose|with whom|` +
	`is there|is of|are of)\b`)

// bareNames are participles, prepositions and pronouns, which do not name what a local or parameter holds.
var bareNames = strings.Fields("of asked known found given kept shown whole own made most said again there who")

// A wording counts what the laws of language look at.
type wording struct {
	comments int      // lines
	phrases  []string // each with its place
	names    []string
	wide     []string
	tests    []string // wide lines of tests
}

func TestLanguageIsPlain(t *testing.T) {
	w, err := wordingOf(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	report(t, w.broken())
}

func TestTheLawOfLanguageCanFail(t *testing.T) {
	planted := "// Package planted says what is kept.\npackage planted\n\nfunc f(of int) { given := of; _ = given }\n" +
		strings.Repeat("//", 61) + "\n"
	w, err := wordingOf(fstest.MapFS{
		"pipeline/planted/planted.go":      {Data: []byte(planted)},
		"pipeline/planted/planted_test.go": {Data: []byte(planted)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.phrases) != 2 || len(w.names) != 2 || len(w.wide) != 1 || len(w.tests) != 1 {
		t.Errorf("found %q, %q, %q and %q", w.phrases, w.names, w.wide, w.tests)
	}
}

// wordingOf reads the product's hand-written Go.
func wordingOf(root fs.FS) (w wording, err error) {
	files, err := filesBelow(root, ".go")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := string(files[name])
		if strings.HasSuffix(name, "_test.go") {
			w.tests = append(w.tests, wideLines(name, text)...)
			continue
		}
		if below(apparatus, name) || strings.Contains(text[:min(2000, len(text))], "\n// Code generated ") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return w, err
		}
		w.readLines(name, text)
		ast.Inspect(file, func(n ast.Node) bool {
			for _, ident := range declared(n) {
				if slices.Contains(bareNames, ident.Name) {
					w.names = append(w.names, fmt.Sprintf("%s: %s", set.Position(ident.Pos()), ident.Name))
				}
			}
			return true
		})
	}
	return w, err
}

func below(trees []string, name string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool { return within(name, tree) })
}

func (w *wording) readLines(name, text string) {
	w.wide = append(w.wide, wideLines(name, text)...)
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		at := fmt.Sprintf("%s:%d", name, number)
		if comment, ok := strings.CutPrefix(strings.TrimLeft(line, "\t "), "//"); ok {
			w.comments++
			for _, phrase := range evasions.FindAllString(comment, -1) {
				w.phrases = append(w.phrases, at+": "+phrase)
			}
		}
	}
}

// wideLines returns the places of lines over maxColumns.
func wideLines(name, text string) (places []string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line)+(tabColumns-1)*strings.Count(line, "\t") > maxColumns {
			places = append(places, fmt.Sprintf("%s:%d", name, number))
		}
	}
	return places
}

// declared returns the names that a node declares inside a function, its parameters and results included.
func declared(n ast.Node) (names []*ast.Ident) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			if ident, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
				names = append(names, ident)
			}
		}
	case *ast.RangeStmt:
		for _, left := range []ast.Expr{n.Key, n.Value} {
			if ident, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
				names = append(names, ident)
			}
		}
	case *ast.FuncType:
		for _, fields := range []*ast.FieldList{n.Params, cmp.Or(n.Results, &ast.FieldList{})} {
			for _, field := range fields.List {
				names = append(names, field.Names...)
			}
		}
	}
	return names
}

// broken names what exceeds a limit, with the places.
func (w *wording) broken() (broken []string) {
	if limit := maxPhrases * w.comments / 1000; len(w.phrases) > limit {
		broken = append(broken,
			fmt.Sprintf("%d phrases in comments where the field has a noun, over %d (%d per 1,000 lines): %q",
				len(w.phrases), limit, maxPhrases, w.phrases))
	}
	if len(w.names) > maxBareName {
		broken = append(broken,
			fmt.Sprintf("%d locals and parameters that do not name what they hold, over %d: %q", len(w.names),
				maxBareName, w.names))
	}
	if len(w.wide) > maxWide {
		broken = append(broken,
			fmt.Sprintf("%d lines over %d columns, over %d: %q", len(w.wide), maxColumns, maxWide, w.wide))
	}
	if len(w.tests) > 0 {
		broken = append(broken, fmt.Sprintf("%d lines of tests over %d columns: %q", len(w.tests), maxColumns, w.tests))
	}
	return broken
}
