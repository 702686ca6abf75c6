package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// What is exported here and imported there gives the same figures there, given-up runs and answers that were read again
// included.
func TestAnExportMakesTheSameFiguresElsewhere(t *testing.T) {
	t.Parallel()
	const lines, givenUp = 240, 30
	text, err := os.ReadFile(captured(t, lines))
	if err != nil {
		t.Fatal(err)
	}
	for n := range givenUp { // of a platform of their own, which is degraded
		text = fmt.Appendf(text, `{"platform":"openai","prompt":"best lamp for room 1?","answered_at":"2026-03-%02dT09:00:00Z","given_up":"timeout"}`+"\n", n%28+1)
	}
	first := installed(t)
	lumen := first.addBrands(t, first.organization.ID, lampsFile(t, 1))
	must(t, first.env, "import", written(t, "first.ndjson", text), "--org", "acme", "--brand", "lumen")
	first.settled(t, lumen, lines)
	if _, body := fetch(t, first.url+"/api/v1/visibility-summary"+window(lumen), first.key); !strings.Contains(body, `"degraded_platforms":["openai"]`) {
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
	want := first.figures(t, lumen)
	first.stop(t, syscall.SIGTERM)

	second := installed(t)
	must(t, second.env, "import", written(t, "exported.ndjson", []byte(r.stdout)), "--org", "acme", "--create", brandsOf(t, 1))
	lumen = onlyBrand(t, second.url, second.key)
	second.settled(t, lumen, lines)
	for path, body := range second.figures(t, lumen) {
		if body != want[path] {
			t.Errorf("%s was\n%s\nand is\n%s", path, want[path], body)
		}
	}
}
