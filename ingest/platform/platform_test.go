package platform

import (
	"slices"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

func TestClassesAreTheRecords(t *testing.T) {
	var classes []string
	for _, c := range Classes {
		classes = append(classes, string(c))
	}
	if !slices.Equal(classes, event.Classes) {
		t.Errorf("%q, and on the record %q", classes, event.Classes)
	}
}
