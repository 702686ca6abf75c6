package perplexity

import (
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestConformance(t *testing.T) {
	platformtest.Suite{
		Description: Description, Path: "/v1/agent", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Open:    New,
		Request: sent,
		Lists:   []string{"output", "output.content"},
	}.Run(t)
}

func sent(t *testing.T, body map[string]any, region string) {
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

func FuzzRead(f *testing.F) {
	platformtest.Fuzz(f, func(raw []byte) (platform.Reply, error) { return read(wire.Account{}, raw) })
}
