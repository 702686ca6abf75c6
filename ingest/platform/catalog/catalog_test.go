package catalog_test

import (
	"testing"

	"github.com/answerscope/answerscope/ingest/platform/catalog"
)

// A slug is a platform's name in records for ever, and in the names of its variables.
func TestTheSlugsStay(t *testing.T) {
	if got, want := catalog.Slugs(), "openai, anthropic, gemini, perplexity, xai, mistral, simulator, simulator-shopping"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, e := range catalog.All() {
		if found, ok := catalog.Find(e.Slug); !ok || found.Name != e.Name {
			t.Errorf("%s is not found", e.Slug)
		}
		if e.NeedsKey {
			if _, err := e.Open(catalog.Settings{Key: "key", BaseURL: "nowhere"}); err == nil {
				t.Errorf("%s is opened at no address", e.Slug)
			}
		}
	}
}
