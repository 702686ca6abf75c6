package system

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/cli"
	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/testkit/cluster"
)

// Exit statuses of every command, a contract.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3 // done, but some inputs were refused, and are listed
)

// Names that programs of others rely on.
const (
	groupOfAnswers = "answerscope-sink" // consumer groups
	groupOfVisits  = "answerscope-sink-visits"
	groupOfResults = "answerscope-results"
	demoSlug       = "demo"
)

// asBinary makes this test binary be answerscope: the commands are tried as people run them, in a process of their own.
const asBinary = "ANSWERSCOPE_TEST_AS_BINARY"

func TestMain(m *testing.M) {
	if os.Getenv(asBinary) != "" {
		os.Unsetenv(asBinary) // it is no setting of theirs
		if at := os.Getenv(faultVariable); at != "" {
			os.Unsetenv(faultVariable)
			if err := fault.Arm(at); err != nil {
				panic(err)
			}
		}
		os.Exit(cli.Main())
	}
	cluster.Main(m) // a node of a cluster, or the tests
}

// faultVariable says at which pass of which point such a process dies.
const faultVariable = "ANSWERSCOPE_TEST_FAULT"

// bound is how long any one command of a test may take.
const bound = 5 * time.Minute

// binary returns a command of answerscope with no settings but env, entries of which are NAME=value.
func binary(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "ANSWERSCOPE_") && !strings.HasPrefix(entry, "OTEL_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(append(cmd.Env, asBinary+"=1"), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// result is what a command left.
type result struct {
	status         int
	stdout, stderr string
}

// run runs one command to its end.
func run(t *testing.T, env []string, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	cmd := binary(ctx, env, args...)
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &log
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("answerscope %s: %v\n%s", strings.Join(args, " "), err, log.String())
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), log.String()}
}

// must runs a command that must end with status 0, and returns its stdout without the last line's end.
func must(t *testing.T, env []string, args ...string) string {
	t.Helper()
	r := run(t, env, "", args...)
	if r.status != exitDone {
		t.Fatalf("answerscope %s: status %d\n%s", strings.Join(args, " "), r.status, r.stderr)
	}
	return strings.TrimSuffix(r.stdout, "\n")
}
