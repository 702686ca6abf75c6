package platform

import (
	"slices"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

func TestClassesAreThoseOfRecords(t *testing.T) {
	var classes []string
	for _, c := range Classes {
		classes = append(classes, string(c))
	}
	if !slices.Equal(classes, event.Classes) {
		t.Errorf("%q, and on the record %q", classes, event.Classes)
	}
}

func TestIsURL(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.example": true, "HTTP://A.example/": true, "https://münchen.example/ä b": true,
		"https://a.example/100%-dry":     true,
		"https://a.example/#:~:text=50%": true, "http://[::1]:80/": true, "https://a.example?b": true,
		"": false, "a.example/b": false, "mailto:a@b.example": false, "https://": false, "https:///a": false,
		"see https://a.example": false,
		"://a.example":          false, "https:a.example": false,
	} {
		if got := IsURL(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
