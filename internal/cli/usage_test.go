package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mistake in a command is found before its engines are opened: here neither database answers.
func TestMistakesAreFoundBeforeEnginesAreOpened(t *testing.T) {
	for command, want := range map[string]string{
		"user add ana@example.org --org acme":             "at least 8 characters",
		"user passwd ana@example.org":                     "at least 8 characters",
		"analyst add ana --org acme --users-dir users.d":  "at least 16 characters",
		"analyst remove ana --org acme":                   "--users-dir",
		"queryapi --mcp-oauth":                            "https://answers.example",
		"all --mcp-oauth --public-url http://a.example":   "https://answers.example",
		"deadletters list --topic orders":                 `topic "orders"`,
		"deadletters list --from May":                     `--from "May"`,
		"deadletters show answers":                        `"answers"`,
		"deadletters replay answers":                      `"answers"`,
		"deadletters replay --topic orders --partition 1": `topic "orders"`,
	} {
		t.Run(command, func(t *testing.T) {
			t.Setenv("ANSWERSCOPE_POSTGRES_DSN", "postgres://answerscope:secret@127.0.0.1:1/answerscope")
			t.Setenv("ANSWERSCOPE_CLICKHOUSE_DSN", "clickhouse://answerscope:secret@127.0.0.1:1/answerscope")
			t.Setenv("ANSWERSCOPE_KAFKA_BROKERS", "127.0.0.1:1")
			stdin, stderr := temporaryFile(t, "weak\n"), temporaryFile(t, "")
			args, in, out := os.Args, os.Stdin, os.Stderr
			t.Cleanup(func() { os.Args, os.Stdin, os.Stderr = args, in, out })
			os.Args, os.Stdin, os.Stderr = append([]string{"answerscope"}, strings.Fields(command)...), stdin, stderr
			status := Main()
			text, err := os.ReadFile(stderr.Name())
			if err != nil || status != exitUsage || !strings.Contains(string(text), want) {
				t.Errorf("exit status %d, want %d, and on stderr, want %s:\n%s", status, exitUsage, want, text)
			}
		})
	}
}

func temporaryFile(t *testing.T, text string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}
