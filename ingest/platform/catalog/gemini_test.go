package catalog

import (
	"reflect"
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestGeminiConforms(t *testing.T) {
	platformtest.Suite{
		Description: gemini.Description, Path: "/v1beta/models/{model}:generateContent",
		KeyHeader: "X-Goog-Api-Key", KeyPrefix: "",
		Open:     opener(gemini),
		Optional: []string{"candidates.groundingMetadata", "candidates.groundingMetadata.groundingSupports"},
		Unseen: []string{
			"candidates.content.parts.thought", "candidates.groundingMetadata.groundingChunks.web.title",
			"candidates.groundingMetadata.groundingChunks.web.domain",
		},
		Request: sentGemini,
		Lists:   []string{"candidates.content.parts", "candidates.groundingMetadata.groundingChunks"},
		Sole:    []string{"candidates.content.parts.text", "candidates.groundingMetadata.groundingChunks.web"},
	}.Run(t)
}

func sentGemini(t *testing.T, body map[string]any, _ string) {
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

func FuzzGemini(f *testing.F) {
	platformtest.Fuzz(f, "gemini", func(raw []byte) (platform.Reply, error) {
		r := geminiReader{account: wire.Account{}, resolve: func([]string) map[string]string { return nil }}
		return r.read(raw)
	})
}
