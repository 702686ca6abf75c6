package extract

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/answerscope/answerscope/ingest/event"
)

const versionGolden = "testdata/version.golden"

// A reading must not change under its version: rows already kept would mix with rows of another meaning, and no
// reread would be asked for.
func TestVersionRisesWithEveryChange(t *testing.T) {
	got := fmt.Sprintf("version %d\n%s", Version, behaviour(t))
	if *update {
		if err := os.WriteFile(versionGolden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(versionGolden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Fatalf(`what makes a reading has changed, or Version has:
%swas
%s
If a release has this version: keep its package as the reader of that version (see versions), raise Version.
Then, and before the first release at once: go test ./pipeline/extract -run Version -update`, got, want)
	}
}

// behaviour names all that a reading depends on: this package's code without its comments and that of addresses, the
// lists, the tables of Unicode and public suffixes, the libraries.
func behaviour(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := filepath.Glob("lists/*")
	if err != nil {
		t.Fatal(err)
	}
	sources = append(sources, "../../ingest/event/path.go") // spells addresses
	for _, name := range append(sources, rows...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".go") {
			text = uncommented(t, name, text)
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "code and lists %x\n", sum.Sum(nil))
	fmt.Fprintf(&out, "Unicode %s %s %s %s\n", unicode.Version, norm.Version, cases.UnicodeVersion, idna.UnicodeVersion)
	fmt.Fprintf(&out, "suffixes %s\n", publicsuffix.List.String())
	for _, module := range []string{
		"github.com/rivo/uniseg", "github.com/jonreiter/govader", "golang.org/x/text", "golang.org/x/net",
	} {
		fmt.Fprintf(&out, "%s %s\n", module, required(t, module))
	}
	return out.String()
}

func uncommented(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	// Comments stand apart from the tree, but for those that were parsed into it.
	file.Doc, file.Comments = nil, nil
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.FuncDecl:
			n.Doc = nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	var out bytes.Buffer
	if err := format.Node(&out, token.NewFileSet(), file); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// required is the version of a module that go.mod asks for.
func required(t *testing.T, module string) string {
	t.Helper()
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`(?m)^\s*(?:require )?` + regexp.QuoteMeta(module) + ` (v\S+)`).FindSubmatch(text)
	if match == nil {
		t.Fatalf("go.mod does not require %s", module)
	}
	return string(match[1])
}

func TestReadersByVersion(t *testing.T) {
	if _, ok := At(Version); !ok {
		t.Errorf("the build does not carry its own version %d", Version)
	}
	// A plan of the release before is replayed as that release read it.
	for version, want := range map[int]uint32{1: 0, 2: 1} {
		read, ok := At(version)
		if !ok {
			t.Fatalf("the build carries no version %d", version)
		}
		a := &event.Answer{Brand: event.Brand{Entity: event.Entity{Name: "Löwenbräu"}}, Text: "Loewenbraeu"}
		if got := read(a).Brand.Mentions; got != want {
			t.Errorf("version %d finds %d mentions, want %d", version, got, want)
		}
	}
	for version, want := range map[int]uint32{3: 0, 4: 1} {
		for name, text := range map[string]string{
			"Brill Aero": "Brill® Aero", "Henly's": "Henly´s", "AT&T": `AT\&T`, "Øre": "Ore", "Volk": "Vo\u00adlk",
		} {
			a := &event.Answer{Brand: event.Brand{Entity: event.Entity{Name: name}}, Text: text}
			if got := versions[version].read(a).Brand.Mentions; got != want {
				t.Errorf("version %d finds %q %d times in %q, want %d", version, name, got, text, want)
			}
		}
	}
	for _, version := range []int{0, Version + 1} {
		if _, ok := At(version); ok {
			t.Errorf("the build carries a version %d", version)
		}
	}
}
