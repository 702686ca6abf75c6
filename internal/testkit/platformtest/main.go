package platformtest

import (
	"os"
	"testing"
)

// Main runs the tests with variables that the vendors' libraries read set to what must not be used.
func Main(m *testing.M) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_ORG_ID": "wrong", "OPENAI_PROJECT_ID": "wrong",
		"ANTHROPIC_API_KEY": "wrong", "ANTHROPIC_AUTH_TOKEN": "wrong", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_PROFILE": "wrong",
		"GOOGLE_API_KEY": "wrong", "GEMINI_API_KEY": "wrong", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1", "GOOGLE_GENAI_USE_VERTEXAI": "1",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err) // the name is one
		}
	}
	os.Exit(m.Run())
}
