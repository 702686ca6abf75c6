package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The image is built from what deploy/Dockerfile.dockerignore lets through: a new room that it does not name, or a kind
// of embedded file, would be missed by `docker build` alone.
func TestTheImageGetsEveryFileOfTheBinary(t *testing.T) {
	sent := sentFiles(t)
	var missing []string
	files := binaryFiles(t)
	for _, file := range files {
		if !sent(file) {
			missing = append(missing, file)
		}
	}
	if len(files) < 100 || len(missing) > 0 {
		t.Errorf("of the binary's %d files deploy/Dockerfile.dockerignore keeps back %q", len(files), missing)
	}
	for _, private := range []string{".git/config", ".env", "deploy/.env", "deploy/tracking.env", "bin/answerscope",
		"var/postgres/password", "answers.ndjson",
		"deploy/engine/node_modules/x.json", "pipeline/testdata/x.json", "ingest/x_test.go"} {
		if sent(private) {
			t.Errorf("%s is sent to the image", private)
		}
	}
}

func TestTheImageIsBuiltWithTheGoOfTheModule(t *testing.T) {
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readText(t, "go.mod"))[1]
	if want := "FROM golang:" + version + "-"; !strings.Contains(readText(t, "deploy/Dockerfile"), want) {
		t.Errorf("deploy/Dockerfile does not say %s…", want)
	}
}

// sentFiles returns whether a file is sent to the image. It knows the patterns that our ignore file has: all but what
// is named with an exclamation mark, and of that not what the lines with two asterisks name.
func sentFiles(t *testing.T) func(file string) bool {
	t.Helper()
	var named, left []string
	for line := range strings.Lines(readText(t, "deploy/Dockerfile.dockerignore")) {
		line = strings.TrimSpace(line)
		if pattern, ok := strings.CutPrefix(line, "!"); ok {
			named = append(named, pattern)
		} else if pattern, ok := strings.CutPrefix(line, "**/"); ok {
			left = append(left, pattern)
		} else if line != "*" && line != "" && !strings.HasPrefix(line, "#") {
			t.Fatalf("deploy/Dockerfile.dockerignore: this test does not know the pattern %q", line)
		}
	}
	matches := func(pattern, name string) bool {
		ok, err := path.Match(pattern, name)
		if err != nil {
			t.Fatalf("pattern %q: %v", pattern, err)
		}
		return ok
	}
	return func(file string) bool {
		isLeft := func(part string) bool {
			return slices.ContainsFunc(left, func(pattern string) bool { return matches(pattern, part) })
		}
		isNamed := func(pattern string) bool { return matches(pattern, file) || strings.HasPrefix(file, pattern+"/") }
		return slices.ContainsFunc(named, isNamed) && !slices.ContainsFunc(strings.Split(file, "/"), isLeft)
	}
}

// binaryFiles are the files of this module that `go build` reads.
func binaryFiles(t *testing.T) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Dir,Module,GoFiles,EmbedFiles", ".")
	list.Env = append(os.Environ(), "GOOS=linux")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"go.mod", "go.sum"}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir                 string
			Module              *struct{ Path string }
			GoFiles, EmbedFiles []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module == nil || p.Module.Path != module {
			continue
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(p.GoFiles, p.EmbedFiles) {
			files = append(files, path.Join(filepath.ToSlash(dir), name))
		}
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
