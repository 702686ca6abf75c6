package catalog

import (
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestOpenAIConforms(t *testing.T) {
	platformtest.Suite{
		Description: openAI.Description, Path: "/v1/responses", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Open:     opener(openAI),
		Request:  sentOpenAI,
		Optional: []string{"output.action.sources"},
		Unseen:   []string{"output.action.url"},
		Lists:    []string{"output", "output.content", "output.content.annotations", "output.action.sources"},
	}.Run(t)
}

func sentOpenAI(t *testing.T, body map[string]any, region string) {
	t.Helper()
	location := map[string]any{"type": "approximate"}
	if region != "" {
		location["country"] = "US"
	}
	want := map[string]any{
		"model": "model-of-choice", "input": "best tent?", "store": false, "tool_choice": "required",
		"tools":   []any{map[string]any{"type": "web_search", "user_location": location}},
		"include": []any{"web_search_call.action.sources"},
	}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("sent %v, want %v", body, want)
	}
}

func FuzzOpenAI(f *testing.F) {
	platformtest.Fuzz(f, "openai", func(raw []byte) (platform.Reply, error) {
		return readOpenAI.read(wire.Account{}, raw)
	})
}
