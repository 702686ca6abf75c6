package event

import (
	"net/url"
	"os"
	"strings"
	"testing"
)

// pathSpellings reads testdata/paths.tsv, which the SQL of Path is held to as well.
func pathSpellings(t testing.TB) (lines [][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/paths.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return lines
}

func TestPathsOfOnePageHaveOneSpelling(t *testing.T) {
	pages := map[string]bool{}
	for _, line := range pathSpellings(t) {
		for _, path := range line {
			if got := Path(path); got != line[0] {
				t.Errorf("%q is %q, want %q", path, got, line[0])
			}
		}
		if pages[line[0]] {
			t.Errorf("%q has two lines", line[0])
		}
		pages[line[0]] = true
	}
	if n := testing.AllocsPerRun(1, func() { Path("/products/a-b_c~d.html") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// A spelling is its own, has the bytes that a server reads, and is plain ASCII.
func FuzzPath(f *testing.F) {
	for _, line := range pathSpellings(f) {
		for _, path := range line {
			f.Add(path)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := Path("/" + text)
		if again := Path(path); again != path {
			t.Errorf("%q is %q, and that is %q", text, path, again)
		}
		if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) || path[0] != '/' {
			t.Errorf("%q is %q", text, path)
		}
		Path(text) // that begins with no slash
		want, wrong := url.PathUnescape(text)
		if wrong != nil || strings.Contains(text, `\x`) {
			return
		}
		if got, err := url.PathUnescape(Escapes(text)); err != nil || got != want {
			t.Errorf("%q is %q to a server, want %q (%v)", text, got, want, err)
		}
		if slashes := strings.Count(Escapes(text), "/"); slashes != strings.Count(text, "/") {
			t.Errorf("%q has %d slashes", text, slashes)
		}
	})
}
