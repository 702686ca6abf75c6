package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// house is a running installation with an organization acme, a key of it, and the first lamps as brands.
type house struct {
	*server
	env []string
	key string
}

func newHouse(t *testing.T, answers, brands string) house {
	t.Helper()
	h := house{env: []string{"ANSWERSCOPE_DATA_DIR=" + migratedDir(t)}}
	h.server = serve(t, h.env, "all")
	must(t, h.env, "org", "add", "Acme")
	must(t, h.env, "user", "add", "ana@example.org", "--org", "acme")
	h.key = must(t, h.env, "key", "create", "--org", "acme", "--user", "ana@example.org", "--name", "test")
	must(t, h.env, "import", answers, "--org", "acme", "--create", brands)
	return h
}

// brand is the id of the only brand.
func (h house) brand(t *testing.T) string {
	t.Helper()
	_, body := fetch(t, h.url+"/api/v1/brands", h.key)
	var list struct{ Brands []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Brands) != 1 {
		t.Fatalf("brands: %s", body)
	}
	return list.Brands[0].ID
}

// figures are what the API tells of the only brand, without ids, which are others on every installation.
func (h house) figures(t *testing.T) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	id := h.brand(t)
	for _, path := range []string{"visibility-summary", "visibility-trend", "competitor-comparison", "citations", "prompt-performance", "shopping-cards", "ai-traffic"} {
		status, body := fetch(t, h.url+"/api/v1/"+path+window(id), h.key)
		var document any
		if err := json.Unmarshal([]byte(body), &document); err != nil || status != 200 {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		bodies[path] = nameless(document)
	}
	return bodies
}

var anID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// nameless is a document without ids, its lists in an order that does not depend on them.
func nameless(document any) string {
	switch d := document.(type) {
	case []any:
		var all []string
		for _, one := range d {
			all = append(all, nameless(one))
		}
		slices.Sort(all)
		return "[" + strings.Join(all, ",") + "]"
	case map[string]any:
		var all []string
		for name, one := range d {
			if name != "next_cursor" { // of ids
				all = append(all, name+":"+nameless(one))
			}
		}
		slices.Sort(all)
		return "{" + strings.Join(all, ",") + "}"
	case string:
		return anID.ReplaceAllString(d, "ID")
	}
	return fmt.Sprint(document)
}

// settled waits until the summary counts so many answers.
func (h house) settled(t *testing.T, answers int) {
	t.Helper()
	eventually(t, h.server, 200*time.Millisecond, func() string {
		_, body := fetch(t, h.url+"/api/v1/visibility-summary"+window(h.brand(t)), h.key)
		if !strings.Contains(body, fmt.Sprintf(`"resultCount":%d,`, answers)) {
			return "the summary is " + body
		}
		return ""
	})
}

// What is exported here and imported there gives the same figures there, given-up runs and answers that were read again
// included.
func TestAnExportMakesTheSameFiguresElsewhere(t *testing.T) {
	t.Parallel()
	const lines, givenUp = 240, 30
	brands := brandsOf(t, 1)
	text, err := os.ReadFile(captured(t, lines))
	if err != nil {
		t.Fatal(err)
	}
	for n := range givenUp { // of a platform of their own, which is degraded
		text = fmt.Appendf(text, `{"platform":"openai","prompt":"best lamp for room 1?","answered_at":"2026-03-%02dT09:00:00Z","given_up":"timeout"}`+"\n", n%28+1)
	}
	first := newHouse(t, written(t, "first.ndjson", text), brands)
	first.settled(t, lines)
	if _, body := fetch(t, first.url+"/api/v1/visibility-summary"+window(first.brand(t)), first.key); !strings.Contains(body, `"degraded_platforms":["openai"]`) {
		t.Errorf("no platform is degraded: %s", body)
	}
	r := run(t, first.env, "", "export", "--org", "acme", "--brand", "lumen")
	if r.status != exitDone || strings.Count(r.stdout, "\n") != lines+28 {
		t.Fatalf("export: status %d, %d lines, %s", r.status, strings.Count(r.stdout, "\n"), r.stderr)
	}
	if part := run(t, first.env, "", "export", "--org", "acme", "--brand", "lumen", "--from", "2026-02-01", "--to", "2026-02-28"); strings.Count(part.stdout, "\n") != lines/6 {
		t.Errorf("of February: %d lines, want %d", strings.Count(part.stdout, "\n"), lines/6)
	}
	if parquet := run(t, first.env, "", "export", "--org", "acme", "--brand", "lumen", "--format", "parquet"); !strings.HasPrefix(parquet.stdout, "PAR1") || !strings.HasSuffix(parquet.stdout, "PAR1") {
		t.Errorf("parquet: status %d, %d bytes, %s", parquet.status, len(parquet.stdout), parquet.stderr)
	}
	if visits := run(t, first.env, "", "export", "--org", "acme", "--brand", "lumen", "--what", "visits"); visits.status != exitDone || visits.stdout != "" {
		t.Errorf("no visits: status %d, %q, %s", visits.status, visits.stdout, visits.stderr)
	}
	if wrong := run(t, first.env, "", "export", "--org", "acme", "--brand", "lumen", "--from", "May"); wrong.status != exitUsage {
		t.Errorf("--from May: status %d", wrong.status)
	}
	want := first.figures(t)
	first.stop(t, 15)

	file := filepath.Join(t.TempDir(), "exported.ndjson")
	write(t, file, r.stdout)
	second := newHouse(t, file, brands)
	second.settled(t, lines)
	for path, body := range second.figures(t) {
		if body != want[path] {
			t.Errorf("%s was\n%s\nand is\n%s", path, want[path], body)
		}
	}
}
