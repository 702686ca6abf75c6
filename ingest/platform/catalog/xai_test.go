package catalog

import (
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestXAIConforms(t *testing.T) {
	platformtest.Suite{
		Description: xAI.Description, Path: "/v1/responses", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Open:     opener(xAI),
		Request:  sentXAI,
		Optional: []string{"output.action.sources"},
		Unseen:   []string{"output.action.url", "citations"},
		Lists:    []string{"output", "output.content", "output.content.annotations", "output.action.sources"},
	}.Run(t)
}

func sentXAI(t *testing.T, body map[string]any, region string) {
	t.Helper()
	search := map[string]any{"type": "web_search"}
	if region != "" {
		search["user_location"] = map[string]any{"type": "approximate", "country": "US"}
	}
	want := map[string]any{"model": "model-of-choice", "input": "best tent?", "store": false, "tools": []any{search}}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("sent %v, want %v", body, want)
	}
}

func FuzzXAI(f *testing.F) {
	platformtest.Fuzz(f, "xai", func(raw []byte) (platform.Reply, error) { return readXAI.read(wire.Account{}, raw) })
}
