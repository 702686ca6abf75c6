package main

import (
	"bytes"
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
	if len(files) != 2 {
		t.Errorf("%d files, want app.js and app.css", len(files))
	}
	for _, file := range files {
		kept, err := os.ReadFile(file.Path)
		if err != nil || !bytes.Equal(kept, file.Contents) {
			t.Errorf("%s is not of these sources: run `make page`, and commit it (%v)", filepath.Base(file.Path), err)
		}
	}
}
