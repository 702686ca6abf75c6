package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// The binary holds what was bundled last: a change of the sources shows nowhere until they are bundled again.
func TestTheBundleIsOfTheseSources(t *testing.T) {
	if _, err := os.Stat("../node_modules/preact"); err != nil {
		t.Fatalf("what it is bundled of is not here: run `make page-packages`: %v", err)
	}
	files, err := bundle("..")
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string]int{"app.css": 0, "app.js": 0, "first.js": 0, "look.js": 0, "manage.js": 0, "chunk.js": 0}
	if len(files) != len(weights) {
		t.Errorf("%d files, want %d", len(files), len(weights))
	}
	for _, file := range files {
		name := filepath.Base(file.Path)
		if _, expected := weights[name]; !expected {
			t.Errorf("%s is a part that nobody expects", name)
		}
		weights[name] = gzipped(t, file.Contents)
		committed, err := os.ReadFile(file.Path)
		if err != nil || !bytes.Equal(committed, file.Contents) {
			t.Errorf("%s is not of these sources: run `make page`, and commit it (%v)", name, err)
		}
	}
	first := weights["app.js"] + weights["first.js"]
	all := first + weights["look.js"] + weights["manage.js"] + weights["chunk.js"]
	if first > 45<<10 || all > 80<<10 || weights["app.css"] > 8<<10 {
		t.Errorf("the first part is %d bytes, all parts %d, and the style %d: want at most 45, 80 and 8 KB",
			first, all, weights["app.css"])
	}
}

func gzipped(t *testing.T, text []byte) int {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Len()
}
