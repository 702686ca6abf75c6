package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
)

// This test's own binary is made of the library that it calls.
func TestABillListsWhatIsLinkedAndTheEngines(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(&out, binary, "../engine/package-lock.json"); err != nil {
		t.Fatal(err)
	}
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(&out, cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, c := range *bom.Components {
		name, _, _ := strings.Cut(c.PackageURL, "@v")
		listed[name] = true
		if strings.HasPrefix(c.PackageURL, "pkg:npm/%40chdb/lib-linux-x64-gnu@26.") {
			listed["clickhouse"] = true
		}
	}
	for _, want := range []string{"pkg:golang/github.com/CycloneDX/cyclonedx-go", "clickhouse"} {
		if !listed[want] {
			t.Errorf("the bill lacks %s: %v", want, listed)
		}
	}
}
