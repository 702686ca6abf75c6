package platform

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/ingest/event"
)

type silent struct{}

func (silent) Ask(context.Context, Question) (Reply, error) { return Reply{}, nil }

func TestRegistryTellsUnknownFromUnavailable(t *testing.T) {
	r := Registry{Simulator: silent{}}
	if _, err := r.Get(Simulator); err != nil {
		t.Error(err)
	}
	for slug, want := range map[string]string{"openai": "is not available here: available are simulator", "chatgtp": "is unknown: known are openai, "} {
		if _, err := r.Get(slug); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", slug, err)
		}
	}
}

func TestClassesAreTheRecords(t *testing.T) {
	var ours []string
	for _, c := range Classes {
		ours = append(ours, string(c))
	}
	if !slices.Equal(ours, event.Classes) {
		t.Errorf("%q, and on the record %q", ours, event.Classes)
	}
}
