package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi/auth"
)

// process is what every command is given: its settings and its surroundings. Results go to stdout; progress, logs and
// errors go to stderr.
type process struct {
	service.Process
	stdin          io.Reader
	stdout, stderr io.Writer
	unknown        []error // variables that name no setting
}

func newProcess(settings config.Settings, command string, stdin io.Reader, stdout, stderr io.Writer) *process {
	p := &process{stdin: stdin, stdout: stdout, stderr: stderr}
	p.Process = service.Process{Settings: settings, Command: command, Actor: actor(command), Say: p.say}
	p.Progress = func(task string, total int64) (func(int64), func()) {
		m := p.newMeter(task, total)
		return m.reach, m.end
	}
	p.Log = p.logger(slog.LevelWarn)
	return p
}

// logger writes at the level that is set, or from quiet on when none is: what serves logs its course, what runs once
// only its warnings.
func (p *process) logger(quiet slog.Level) *slog.Logger {
	level := quiet
	if p.Settings.LogLevel != config.LevelAuto {
		_ = level.UnmarshalText([]byte(p.Settings.LogLevel)) // Validate has said what is wrong with it
	}
	options := &slog.HandlerOptions{Level: level}
	if p.Settings.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(p.stderr, options))
	}
	return slog.New(slog.NewTextHandler(p.stderr, options))
}

// print prints a text of the result, of one line or several.
func (p *process) print(text string) error {
	if _, err := fmt.Fprintln(p.stdout, escapedLines(text)); err != nil {
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

// escaped replaces each control but tabs, and each character that turns the direction of text, by an escape of JSON.
// Names and prompts are the clients', who could end a line, erase others, or show one text as another.
func escaped(text string) string {
	if !event.HasControls(text) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if r != '\t' && event.HasControls(string(r)) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// escapedLines is escaped for a text whose line breaks are its own.
func escapedLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = escaped(line)
	}
	return strings.Join(lines, "\n")
}

// printResult prints a document as JSON, or a line for people.
func (p *process) printResult(asJSON bool, document any, line string) error {
	if asJSON {
		return p.printJSON(document)
	}
	return p.print(line)
}

// A listing is what a query returned, to be printed.
type listing[T any] struct {
	list []T
	err  error
}

func asList[T any](list []T, err error) listing[T] { return listing[T]{list, err} }

// print is printList, unless the query failed.
func (l listing[T]) print(p *process, asJSON bool, line func(T) string, columns ...string) error {
	if l.err != nil {
		return l.err
	}
	return printList(p, asJSON, l.list, line, columns...)
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
		fmt.Fprintln(table, escaped(line(item))) // Flush returns what goes wrong
	}
	return table.Flush()
}

// say prints a line to stderr.
func (p *process) say(format string, args ...any) {
	fmt.Fprintln(p.stderr, escapedLines(fmt.Sprintf(format, args...)))
}

// actor is who runs a command and from where, for the audit log: as root, who became root; over SSH, its client.
func actor(command string) string {
	name := os.Getenv("SUDO_USER")
	if current, err := user.Current(); err == nil {
		name = cmp.Or(name, current.Username)
	}
	host, _ := os.Hostname() // "" is as much as is known
	text := name + "@" + host
	if client, _, _ := strings.Cut(os.Getenv("SSH_CONNECTION"), " "); client != "" {
		text += " from " + client
	}
	return text + ": answerscope " + command
}

// passwordTimeout is how long a password may take to come through a pipe before there is none: stdin may be open with
// no writer at its other end.
const passwordTimeout = 10 * time.Second

// readPassword returns the first line of stdin, "" when there is none; a terminal is not asked. A password must not
// contain the words, such as the user's address.
func (p *process) readPassword(ctx context.Context, minimum int, words ...string) (string, error) {
	if p.terminal() != nil {
		return "", nil
	}
	limited, cancel := context.WithTimeout(ctx, passwordTimeout)
	defer cancel()
	text, err := p.readLine(limited, "")
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		p.say("no password came on stdin within %s", passwordTimeout)
		return "", nil
	}
	if err != nil || text == "" {
		return "", err
	}
	if err := auth.CheckPassword(text, minimum, words...); err != nil {
		return "", usageError{fmt.Errorf("%w; or give none, and one is generated", err)}
	}
	return text, nil
}

// readLine reads a secret: from a terminal, which shows the prompt and not the secret, or the first line of stdin.
func (p *process) readLine(ctx context.Context, prompt string) (string, error) {
	type input struct {
		text string
		err  error
	}
	done := make(chan input, 1)
	go func() {
		if terminal := p.terminal(); terminal != nil {
			fmt.Fprintf(p.stderr, "%s: ", prompt)
			text, err := term.ReadPassword(int(terminal.Fd()))
			fmt.Fprintln(p.stderr)
			done <- input{string(text), err}
			return
		}
		text, err := bufio.NewReader(p.stdin).ReadString('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			err = nil
		}
		done <- input{strings.TrimRight(text, "\r\n"), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case in := <-done:
		if in.err != nil {
			return "", fmt.Errorf("read stdin: %w", in.err)
		}
		return in.text, nil
	}
}

// terminal is stdin if that is a terminal, else nil.
func (p *process) terminal() *os.File {
	if file, ok := p.stdin.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// parseDays reads the flags --from and --to; nil where one is absent.
func parseDays(from, to string) (first, last *time.Time, err error) {
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

// progressEvery is the time between two lines of progress where there is no bar.
const progressEvery = 3 * time.Second

// A meter shows the progress of a task: a bar on a terminal, a line every few seconds elsewhere. It may be used from
// several goroutines.
type meter struct {
	out   io.Writer
	task  string
	begun time.Time

	mu    sync.Mutex
	total int64 // 0: not known
	bar   *progressbar.ProgressBar
	done  int64
	shown time.Time
}

// newMeter begins to show a task of total steps, 0 where that is not known.
func (p *process) newMeter(task string, total int64) *meter {
	m := &meter{out: p.stderr, task: task, begun: time.Now(), shown: time.Now()}
	m.setTotal(total)
	return m
}

// setTotal begins a bar once the total is known.
func (m *meter) setTotal(total int64) {
	if m.total > 0 || total == 0 {
		return
	}
	m.total = total
	if file, ok := m.out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		m.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(m.out),
			progressbar.OptionSetDescription(m.task),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
}

// reach sets the number of steps that are done; fewer than before are ignored.
func (m *meter) reach(done int64) { m.reachOf(done, 0) }

// reachOf is reach for a task whose total becomes known with its first step.
func (m *meter) reachOf(done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setTotal(total)
	if done <= m.done {
		return
	}
	m.done = done
	if m.bar != nil {
		_ = m.bar.Set64(min(done, m.total)) // a bar that cannot be drawn fails nothing
		return
	}
	if time.Since(m.shown) >= progressEvery {
		m.shown = time.Now()
		fmt.Fprintln(m.out, m.text())
	}
}

// end removes the bar and prints the result in one line.
func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Finish()
	}
	fmt.Fprintf(m.out, "%s in %s\n", m.text(), time.Since(m.begun).Round(100*time.Millisecond))
}

func (m *meter) text() string {
	if m.total == 0 {
		return fmt.Sprintf("%s: %d", m.task, m.done)
	}
	return fmt.Sprintf("%s: %d of %d", m.task, m.done, max(m.done, m.total)) // a job's total grows while it is sized
}
