package run

import (
	"os"
	"path/filepath"
	"testing"
)

// Files of imports: a brand with one competitor, and two answers about it, of which one wants a time in each line,
// beside a line that is refused.
const (
	BrandsFile = `{"brands":[{"name":"Acme","slug":"acme","domains":["acme.example"],"competitors":[` +
		`{"name":"Globex","domains":["globex.example"]}]}]}`
	AnswersFile = `{"platform":"chatgpt","prompt":"best anvil?","answered_at":"%s",` +
		`"text":"Acme makes the best anvil. Globex follows."}
{"platform":"chatgpt","prompt":"best rocket?","answered_at":"%s","text":"Globex makes rockets."}
{"platform":"chatgpt","prompt":"","answered_at":"%s","text":"no prompt"}
`
)

// Write writes a file.
func Write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Written writes a file of a name in a directory of the test, and returns its path.
func Written(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
