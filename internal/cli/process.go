package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/answerscope/answerscope/internal/config"
)

// process is what every command is given: its settings and its surroundings. Results go to stdout; progress, logs and
// errors go to stderr.
type process struct {
	config.Settings

	stdin          io.Reader
	stdout, stderr io.Writer
	log            *slog.Logger
}

// logger writes at the level that is set, or from quiet on when none is: a server tells what it does, a chore only
// what is odd.
func (p *process) logger(quiet slog.Level) *slog.Logger {
	level := quiet
	if p.LogLevel != config.LevelAuto {
		_ = level.UnmarshalText([]byte(p.LogLevel)) // Validate has said what is wrong with it
	}
	options := &slog.HandlerOptions{Level: level}
	if p.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.stderr, options))
}

// printJSON prints one document, or one object of a list, on a line of stdout.
func (p *process) printJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return p.print(string(text))
}

// print prints one line of the result.
func (p *process) print(line string) error {
	if _, err := fmt.Fprintln(p.stdout, line); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}

// tell says on stderr how things go.
func (p *process) tell(format string, args ...any) {
	fmt.Fprintf(p.stderr, format+"\n", args...)
}
