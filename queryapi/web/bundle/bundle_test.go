package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/valyala/fasthttp"
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
	weights := map[string]int{
		"app.css": 0, "app.js": 0, "first.js": 0, "look.js": 0, "manage.js": 0, "tell.js": 0,
		"advice.js": 0, "chunk.js": 0,
	}
	if len(files) != len(weights) {
		t.Errorf("%d files, want %d", len(files), len(weights))
	}
	for _, file := range files {
		name := filepath.Base(file.Path)
		if _, expected := weights[name]; !expected {
			t.Errorf("%s is a part that nobody expects", name)
		}
		// as it is sent
		weights[name] = len(fasthttp.AppendGzipBytesLevel(nil, file.Contents, fasthttp.CompressBestCompression))
		committed, err := os.ReadFile(file.Path)
		if err != nil || !bytes.Equal(committed, file.Contents) {
			t.Errorf("%s is not of these sources: run `make page`, and commit it (%v)", name, err)
		}
	}
	first := weights["app.js"] + weights["first.js"]
	all := first + weights["look.js"] + weights["manage.js"] + weights["chunk.js"]
	tell, advice, style := weights["tell.js"], weights["advice.js"], weights["app.css"]
	if first > 45<<10 || all > 80<<10 || tell > 10<<10 || advice > 10<<10 || style > 8<<10 {
		t.Errorf("the first part is %d bytes, all but the last two %d, these %d and %d, and the style %d: "+
			"want at most 45, 80, 10, 10 and 8 KB",
			first, all, tell, advice, style)
	}
}
