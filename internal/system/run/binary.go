// Package run starts answerscope as a person does, in processes of their own, for the tests of the packages beside it.
// It has their common steps: commands and servers, data directories, installations, and requests.
//
// The tests are in a package for each journey, and each opens with what its tests prove together.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// Exit statuses of every command, a contract.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitRefused = 3 // done, but some inputs were refused, and are listed
)

// Names that programs of others rely on.
const (
	GroupOfAnswers = "answerscope-sink" // consumer groups
	GroupOfVisits  = "answerscope-sink-visits"
	GroupOfResults = "answerscope-results"
	DemoSlug       = "demo"
)

// Timeout bounds any one command of a test.
const Timeout = 5 * time.Minute

// Binary returns the path of answerscope with its fault points (see package faulty), bin/faulty. Test binaries that
// share engines build it once.
func Binary(t testing.TB) string {
	t.Helper()
	return string(testkit.Once(t, "faulty", func() ([]byte, error) { return build(t.Context()) }))
}

// build runs the go command, which links nothing when the program is up to date. It holds a lock, because test binaries
// that share no engines may build at the same time.
func build(ctx context.Context) (path []byte, err error) {
	module, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Dir(string(module))
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	lock, err := os.Create(filepath.Join(bin, "faulty.lock"))
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	program := filepath.Join(bin, "faulty")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program,
		"./internal/system/faulty")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return []byte(program), nil
}

// Command returns a command of answerscope with no settings but env, entries of which are NAME=value.
func Command(ctx context.Context, t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, Binary(t), args...)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "ANSWERSCOPE_") && !strings.HasPrefix(entry, "OTEL_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	// A quarter of a short command's CPU would be for the garbage of its start.
	cmd.Env = append(append(cmd.Env, "GOGC=400"), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// A Result is what a command left.
type Result struct {
	Status         int
	Stdout, Stderr string
}

// ToEnd runs one command to its end.
func ToEnd(t *testing.T, env []string, stdin string, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	cmd := Command(ctx, t, env, args...)
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &log
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("answerscope %s: %v\n%s", strings.Join(args, " "), err, log.String())
	}
	return Result{cmd.ProcessState.ExitCode(), out.String(), log.String()}
}

// Must runs a command that must end with status 0, and returns its stdout without the last line's end.
func Must(t *testing.T, env []string, args ...string) string {
	t.Helper()
	r := ToEnd(t, env, "", args...)
	if r.Status != ExitDone {
		t.Fatalf("answerscope %s: status %d\n%s", strings.Join(args, " "), r.Status, r.Stderr)
	}
	return strings.TrimSuffix(r.Stdout, "\n")
}
