package catalog

import (
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestPerplexityConforms(t *testing.T) {
	platformtest.Suite{
		Description: perplexity.Description, Path: "/v1/agent", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Open:    opener(perplexity),
		Request: sentPerplexity,
		Lists:   []string{"output", "output.content"},
	}.Run(t)
}

func sentPerplexity(t *testing.T, body map[string]any, region string) {
	t.Helper()
	search := map[string]any{"type": "web_search"}
	if region != "" {
		search["user_location"] = map[string]any{"country": "US"}
	}
	want := map[string]any{"model": "model-of-choice", "input": "best tent?", "tools": []any{search}}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("sent %v, want %v", body, want)
	}
}

func FuzzPerplexity(f *testing.F) {
	platformtest.Fuzz(f, "perplexity", func(raw []byte) (platform.Reply, error) {
		return readPerplexity(wire.Account{}, raw)
	})
}
