package catalog

import (
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestMistralConforms(t *testing.T) {
	platformtest.Suite{
		Description: mistral.Description, Path: "/v1/conversations", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Open:     opener(mistral),
		Request:  sentMistral,
		Optional: []string{"outputs.content.url"}, // null where it is no page; missing, it is a changed shape
		Lists:    []string{"outputs", "outputs.content"},
	}.Run(t)
}

func sentMistral(t *testing.T, body map[string]any, _ string) {
	t.Helper()
	want := map[string]any{
		"model": "model-of-choice", "inputs": "best tent?", "stream": false, "store": false,
		"tools": []any{map[string]any{"type": "web_search"}},
	}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("sent %v, want %v", body, want)
	}
}

func FuzzMistral(f *testing.F) {
	platformtest.Fuzz(f, "mistral", func(raw []byte) (platform.Reply, error) {
		return readMistral(wire.Account{}, raw)
	})
}
