package gemini

import (
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestMain(m *testing.M) { platformtest.Main(m) }

func TestConformance(t *testing.T) {
	platformtest.Suite{
		Description: Description, Path: "/v1beta/models/{model}:generateContent", KeyHeader: "X-Goog-Api-Key", KeyPrefix: "",
		Open:     New,
		Optional: []string{"candidates.groundingMetadata", "candidates.groundingMetadata.groundingSupports"},
		Unseen:   []string{"candidates.content.parts.thought", "candidates.groundingMetadata.groundingChunks.web.title", "candidates.groundingMetadata.groundingChunks.web.domain"},
		Request:  sent,
		Lists:    []string{"candidates.content.parts", "candidates.groundingMetadata.groundingChunks"},
		Sole:     []string{"candidates.content.parts.text", "candidates.groundingMetadata.groundingChunks.web"},
	}.Run(t)
}

func sent(t *testing.T, body map[string]any, _ string) {
	t.Helper()
	want := map[string]any{
		"contents":         []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "best tent?"}}}},
		"generationConfig": map[string]any{},
		"tools":            []any{map[string]any{"googleSearch": map[string]any{}}},
	}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("sent %v, want %v", body, want)
	}
}

func FuzzRead(f *testing.F) {
	platformtest.Fuzz(f, func(raw []byte) (platform.Reply, error) {
		r := reader{account: wire.Account{}, resolve: func([]string) map[string]string { return nil }}
		return r.read(raw)
	})
}
