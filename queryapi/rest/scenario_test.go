package rest

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the wanted responses in testdata/scenario")

// A scenario is one txtar file, played on a library of its own. Its sections come in pairs: a request, METHOD TARGET,
// with lines of headers, an empty line and a body; and its response, the status, with the headers that matter, an empty
// line and the body. The comment's line "schemas: a,b" exposes others than api, "max-rows: N" bounds results, and
// "no aggregates" forbids them.
func TestScenarios(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			play(t, path)
		})
	}
}

// callers are tokens, by names that scenarios have for them.
var callers = strings.NewReplacer(
	"$writer", "Bearer "+token(`{"role":"rest_writer","sub":"ada"}`),
	"$ghost", "Bearer "+token(`{"role":"ghost"}`),
	"$superuser", "Bearer "+token(`{"role":"postgres"}`),
)

func play(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(cfg *Config) { configure(cfg, string(archive.Comment)) })
	played := &txtar.Archive{Comment: archive.Comment}
	for i := 0; i < len(archive.Files); i++ {
		request := archive.Files[i]
		want := "no response"
		if i+1 < len(archive.Files) && archive.Files[i+1].Name[0] >= '0' && archive.Files[i+1].Name[0] <= '9' {
			i++
			want = archive.Files[i].Name + "\n" + string(archive.Files[i].Data)
		}
		r := s.send(t, request.Name, callers.Replace(string(request.Data)))
		answer := txtar.File{Name: r.status, Data: []byte(r.text())}
		if got := answer.Name + "\n" + string(answer.Data); got != want && !*update {
			t.Errorf("%s:\ngot  %s\nwant %s", request.Name, got, want)
		}
		played.Files = append(played.Files, request, answer)
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(played), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func configure(cfg *Config, comment string) {
	for line := range strings.SplitSeq(comment, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "schemas":
			cfg.Schemas = strings.Split(value, ",")
		case "origins":
			cfg.Origins = strings.Split(value, ",")
		case "max-rows":
			var rows int64
			fmt.Sscan(value, &rows)
			cfg.MaxRows = &rows
		case "no aggregates":
			cfg.Aggregates = false
		}
	}
}

// unimportant are headers that every server has.
var unimportant = []string{"Date", "X-Request-Id", "X-Content-Type-Options", "Connection", "Content-Length"}

// text is the headers that matter, an empty line and the body.
func (r reply) text() string {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if !slices.Contains(unimportant, name) {
			fmt.Fprintf(&text, "%s: %s\n", name, strings.Join(r.header[name], " & "))
		}
	}
	if r.body != "" {
		text.WriteString("\n" + strings.TrimSuffix(r.body, "\n") + "\n")
	}
	return text.String()
}
