package testkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// sharedEnv names the directory with the addresses of the engines that test binaries
// share.
const sharedEnv = "ANSWERSCOPE_TEST_ENGINES"

// addresses are those of the engines; empty where there is none of the kind.
type addresses struct {
	ClickHouse     string   `json:"clickhouse,omitempty"`      // native, with credentials
	ClickHouseHTTP string   `json:"clickhouse_http,omitempty"` // host:port
	Postgres       string   `json:"postgres,omitempty"`
	Kafka          []string `json:"kafka,omitempty"`
	Apache         []string `json:"apache,omitempty"`
}

func (a addresses) with(b addresses) addresses {
	if b.ClickHouse != "" {
		a.ClickHouse, a.ClickHouseHTTP = b.ClickHouse, b.ClickHouseHTTP
	}
	if b.Postgres != "" {
		a.Postgres = b.Postgres
	}
	if b.Kafka != nil {
		a.Kafka = b.Kafka
	}
	if b.Apache != nil {
		a.Apache = b.Apache
	}
	return a
}

func readAddresses(dir string) (addresses, error) {
	var a addresses
	text, err := os.ReadFile(filepath.Join(dir, "addresses.json"))
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return a, fmt.Errorf("read shared engines (%s): %w", sharedEnv, err)
	}
	return a, nil
}

// Serve starts every kind of engine, runs a command whose tests share them, stops the
// engines, and returns the command's exit status. One set of engines for a whole
// `go test ./...` saves each test binary the start of its own.
func Serve(ctx context.Context, command []string) (status int, err error) {
	defer func() { err = errors.Join(err, own.close()) }()
	if err := errors.Join(useMemory(), own.serve()); err != nil {
		return 1, err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), sharedEnv+"="+own.dir)
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("run %s: %w", command[0], err)
	}
	return 0, nil
}

// useMemory makes tests and their engines keep files in memory, if there is a file
// system of it with room: a run needs less than a gigabyte at any time, but creates and
// removes some hundred thousand small files, which cost a fifth of its time on a disk.
// What the go tool builds, and runs, stays where it was.
func useMemory() error {
	const dir = "/dev/shm"
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") == "" && syscall.Statfs(dir, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= 4<<30 {
		return errors.Join(os.Setenv("GOTMPDIR", cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir())), os.Setenv("TMPDIR", dir))
	}
	return nil
}

// serve starts every kind at once and writes their addresses to addresses.json.
func (e *engines) serve() error {
	var (
		mu   sync.Mutex
		all  addresses
		errs []error
		wg   sync.WaitGroup
	)
	for kind := range starters {
		wg.Go(func() {
			a, err := e.start(kind)
			mu.Lock()
			defer mu.Unlock()
			all, errs = all.with(a), append(errs, err)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.dir, "addresses.json"), text, 0o600)
}
