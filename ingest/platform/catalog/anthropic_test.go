package catalog

import (
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestAnthropicConforms(t *testing.T) {
	platformtest.Suite{
		Description: anthropic.Description, Path: "/v1/messages", KeyHeader: "X-Api-Key", KeyPrefix: "",
		Open:     opener(anthropic),
		Optional: []string{"content.citations"},
		Request:  sentAnthropic,
		Lists:    []string{"content", "content.citations", "content.content"},
	}.Run(t)
}

func sentAnthropic(t *testing.T, body map[string]any, region string) {
	t.Helper()
	search := map[string]any{"type": "web_search_20250305", "name": "web_search", "max_uses": 5.0}
	if region != "" {
		search["user_location"] = map[string]any{"type": "approximate", "country": "US"}
	}
	want := map[string]any{
		"model": "model-of-choice", "max_tokens": 8192.0, "tools": []any{search},
		"messages": []any{map[string]any{"role": "user",
			"content": []any{map[string]any{"type": "text", "text": "best tent?"}}}},
	}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("sent %v, want %v", body, want)
	}
}

// A model of which a search can be forced has to search; the others refuse a request that forces one.
func TestSearchIsForcedWhereItCanBe(t *testing.T) {
	for model, forced := range map[string]bool{
		"claude-haiku-4-5": true, "claude-opus-4-7": true, "": false, "claude-opus-5-5": false,
		"model-of-choice": false,
	} {
		request := anthropicRequest(platform.Question{Text: "best tent?", Model: model})
		if got := request["tool_choice"] != nil; got != forced {
			t.Errorf("%q: forced %t", model, got)
		}
	}
}

func FuzzAnthropic(f *testing.F) {
	platformtest.Fuzz(f, "anthropic", func(raw []byte) (platform.Reply, error) {
		var r anthropicReader
		if _, err := r.read(wire.Account{}, raw); err != nil {
			return platform.Reply{}, err
		}
		return r.reply()
	})
}
