package catalog

import (
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/internal/platformname"
	"github.com/answerscope/answerscope/internal/testkit/platformtest"
)

func TestMain(m *testing.M) { platformtest.Main(m) }

// opener opens a platform as its entry does.
func opener(a api) func(key, baseURL string) (platform.Platform, error) {
	return func(key, baseURL string) (platform.Platform, error) {
		return a.entry().Open(Settings{Key: key, BaseURL: baseURL})
	}
}

// A slug never changes: records and the names of environment variables have it.
func TestSlugsAreStable(t *testing.T) {
	if got, want := Slugs(),
		"openai, anthropic, gemini, perplexity, xai, mistral, google-ai-overview, google-ai-mode, bing-copilot, "+
			"chatgpt-web, chatgpt-shopping, perplexity-web, gemini-web, copilot-web, grok-web, simulator, "+
			"simulator-shopping, simulator-overview"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, e := range All() {
		if found, ok := Find(e.Slug); !ok || found.Name != e.Name {
			t.Errorf("%s is not found", e.Slug)
		}
		if name := platformname.Of(e.Slug); name != e.Name {
			t.Errorf("%s is shown as %q, want %q", e.Slug, name, e.Name)
		}
		if e.NeedsKey && len(e.Models) > 0 { // a surface has the addresses of its providers
			if _, err := e.Open(Settings{Key: "key", BaseURL: "nowhere"}); err == nil {
				t.Errorf("%s is opened at no address", e.Slug)
			}
		}
	}
}
