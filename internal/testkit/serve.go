package testkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

// sharedEnv names the directory with the addresses of the engines that test binaries share.
const sharedEnv = "ANSWERSCOPE_TEST_ENGINES"

// Serve starts every kind of engine, runs a command whose tests share them, stops the engines, and returns the
// command's exit status.
func Serve(ctx context.Context, command []string) (status int, err error) {
	defer func() { err = errors.Join(err, own.close()) }()
	if err := errors.Join(saveTime(), startAll()); err != nil {
		return 1, err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), sharedEnv+"="+own.dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it may have files to remove
	cmd.WaitDelay = stopTimeout
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("run %s: %w", command[0], err)
	}
	return 0, nil
}

// startAll starts every kind at once and writes their addresses to addresses.json.
func startAll() error {
	var (
		mu   sync.Mutex
		all  = addresses{}
		errs []error
		wg   sync.WaitGroup
	)
	for _, start := range kinds {
		wg.Go(func() {
			a, err := start()
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(all, a)
			errs = append(errs, err)
		})
	}
	wg.Wait()
	text, err := json.Marshal(all)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(own.dir, "addresses.json"), text, 0o600)
}

func readAddresses() (a addresses, err error) {
	text, err := os.ReadFile(filepath.Join(os.Getenv(sharedEnv), "addresses.json"))
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return nil, fmt.Errorf("read shared engines (%s): %w", sharedEnv, err)
	}
	return a, nil
}

// saveTime makes tests and their engines keep files in memory, if a file system of it has room: a run of everything
// needs less than a gigabyte at any time, but on a disk creating small files costs ClickHouse as much again as all
// else. What the go tool builds stays where it was. And it keeps Java from optimizing what runs for seconds only, half
// of the CPU of Apache Kafka's start.
func saveTime() error {
	const memory = "/dev/shm"
	errs := []error{os.Setenv("JAVA_TOOL_OPTIONS", cmp.Or(os.Getenv("JAVA_TOOL_OPTIONS"), "-XX:TieredStopAtLevel=1"))}
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") == "" && syscall.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= 4<<30 {
		errs = append(errs,
			os.Setenv("GOTMPDIR", cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir())), os.Setenv("TMPDIR", memory))
	}
	return errors.Join(errs...)
}
