package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/answerscope/answerscope/internal/config"
)

// process is what every command is given: its settings and its surroundings. Results go to stdout; progress, logs and
// errors go to stderr.
type process struct {
	config.Settings

	command        string // its words: "deadletters list"
	stdin          io.Reader
	stdout, stderr io.Writer
	log            *slog.Logger
}

// logger writes at the level that is set, or from quiet on when none is: what serves logs its course, what runs once only
// its warnings.
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

// print prints one line of the result.
func (p *process) print(line string) error {
	if _, err := fmt.Fprintln(p.stdout, line); err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return nil
}

// printJSON prints one document, or one object of a list, on a line of stdout.
func (p *process) printJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	return p.print(string(text))
}

// printResult prints a document as JSON, or a line for people.
func (p *process) printResult(asJSON bool, document any, line string) error {
	if asJSON {
		return p.printJSON(document)
	}
	return p.print(line)
}

// printList prints one JSON object a line, or a table whose columns a line separates by tabs.
func printList[T any](p *process, asJSON bool, list []T, line func(T) string, columns ...string) error {
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	if !asJSON && len(list) > 0 && len(columns) > 0 {
		fmt.Fprintln(table, strings.Join(columns, "\t"))
	}
	for _, item := range list {
		if asJSON {
			if err := p.printJSON(item); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(table, line(item)) // Flush returns what goes wrong
	}
	return table.Flush()
}

// say writes a line to stderr.
func (p *process) say(format string, args ...any) {
	fmt.Fprintf(p.stderr, format+"\n", args...)
}

// days reads the flags --from and --to; nil where one is absent.
func days(from, to string) (first, last *time.Time, err error) {
	if first, err = day("--from", from); err != nil {
		return nil, nil, err
	}
	if last, err = day("--to", to); err != nil {
		return nil, nil, err
	}
	if first != nil && last != nil && first.After(*last) {
		return nil, nil, fmt.Errorf("--from %s is after --to %s", from, to)
	}
	return first, last, nil
}

func day(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil, fmt.Errorf("%s %q: want a day such as 2026-03-01", flag, text)
	}
	return &at, nil
}
