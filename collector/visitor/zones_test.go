package visitor

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

// Every row is a zone that there is, in order, once, with a country's code.
func TestZonesAreZones(t *testing.T) {
	var names []string
	for line := range strings.Lines(zonesFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		zone, country, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || len(country) != 2 || strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			t.Errorf("row %q", line)
		}
		if _, err := time.LoadLocation(zone); err != nil {
			t.Errorf("%s: %v", zone, err)
		}
		names = append(names, zone)
	}
	if len(names) < 500 || !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%d zones", len(names))
	}
	if len(codes) < 245 || codes["XX"] != "" || codes["XK"] != "XK" {
		t.Errorf("%d countries", len(codes))
	}
}
