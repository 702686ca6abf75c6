package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

func mustEnd(t *testing.T, s *Engines) {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// onlyKafka needs the engine that starts at once; who owns a directory does not depend on which engines run there.
func onlyKafka(dir, owner string) Options {
	return Options{DataDir: dir, Kafka: true, Owner: owner, Exclusive: owner == "all", Log: quiet}
}

func TestOpenJoinsRunningEngines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "var")
	owner := startRole(t, onlyKafka(dir, "all"), nil)
	engines, err := Open(t.Context(), onlyKafka(dir, "import"))
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	if !engines.Joined() || len(engines.Kafka) != 1 {
		t.Errorf("joined %v, brokers %q", engines.Joined(), engines.Kafka)
	}
	select {
	case <-engines.Lost():
		t.Error("lost while the owner runs")
	default:
	}

	owner.end(t)
	wait.For(t, "the end of the owner to be noticed", func() bool { return engines.Err() != nil })
	<-engines.Lost()
	if text := engines.Err().Error(); !strings.Contains(text, "`answerscope all`") {
		t.Errorf("lost says %q; want whose engines they were", text)
	}
}

func TestJoinedSeesThatTheOwnerWasKilled(t *testing.T) {
	dir := t.TempDir()
	owner := startRole(t, onlyKafka(dir, "all"), nil)
	engines, err := Open(t.Context(), onlyKafka(dir, "import"))
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	owner.kill()
	wait.For(t, "the end of the owner to be noticed", func() bool { return engines.Err() != nil })

	// What the killed owner left does not block the next one.
	next, err := Open(t.Context(), onlyKafka(dir, "all"))
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, next)
	if next.Joined() {
		t.Error("joined a killed owner")
	}
}

// Joined engines must not be confused with those of the next owner.
func TestJoinedSeesAnotherOwner(t *testing.T) {
	dir := t.TempDir()
	owner := startRole(t, onlyKafka(dir, "all"), nil)
	engines, err := Open(t.Context(), onlyKafka(dir, "import"))
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	owner.kill()
	startRole(t, onlyKafka(dir, "all"), nil)
	wait.For(t, "the other owner to be noticed", func() bool { return engines.Err() != nil })
}

func TestSecondAllIsRefusedWithTheAddressOfTheFirst(t *testing.T) {
	dir := t.TempDir()
	options := onlyKafka(dir, "all")
	options.Address = "http://127.0.0.1:8080"
	first, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, first)
	_, err = Open(t.Context(), onlyKafka(dir, "all"))
	var inUse *InUseError
	if !errors.As(err, &inUse) || inUse.Address != "http://127.0.0.1:8080" || inUse.PID != os.Getpid() {
		t.Fatalf("second all: %v", err)
	}
	want := fmt.Sprintf("data directory %s is in use by `answerscope all` (pid %d) at http://127.0.0.1:8080", dir,
		os.Getpid())
	if inUse.Error() != want {
		t.Errorf("says %q; want %q", inUse, want)
	}
}

func TestAllWaitsForAShortCommand(t *testing.T) {
	dir := t.TempDir()
	short := startRole(t, onlyKafka(dir, "import"), nil)
	opened := make(chan error, 1)
	go func() {
		engines, err := Open(t.Context(), onlyKafka(dir, "all"))
		if err == nil {
			err = engines.Stop(context.Background())
		}
		opened <- err
	}()
	short.end(t)
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestJoiningEnginesThatLackOneIsAnError(t *testing.T) {
	dir := t.TempDir()
	startRole(t, onlyKafka(dir, "all"), nil)
	needs := onlyKafka(dir, "import")
	needs.Postgres = true
	var inUse *InUseError
	if _, err := Open(t.Context(), needs); !errors.As(err, &inUse) {
		t.Errorf("open with PostgreSQL beside an owner without: %v", err)
	}
}

// What prepares a start touches files that another owner's engines may read.
func TestOnlyWhoStartsEnginesPreparesThem(t *testing.T) {
	dir := t.TempDir()
	prepared := 0
	options := onlyKafka(dir, "all")
	options.Prepare = func() error { prepared++; return nil }
	first, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, first)
	if prepared != 1 {
		t.Errorf("prepared %d times by the owner", prepared)
	}
	var inUse *InUseError
	if _, err := Open(t.Context(), options); !errors.As(err, &inUse) {
		t.Errorf("second all: %v", err)
	}
	options.Exclusive, options.Owner = false, "import"
	joined, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, joined)
	if prepared != 1 {
		t.Errorf("prepared %d times, once more by who does not start them", prepared)
	}

	options = onlyKafka(t.TempDir(), "all")
	options.Prepare = func() error { return errors.New("no") }
	if _, err := Open(t.Context(), options); err == nil || !strings.Contains(err.Error(), "open engines: no") {
		t.Errorf("open with what cannot be prepared: %v", err)
	}
}

func TestFilesOfADataDirectoryAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "var")
	engines, err := Open(t.Context(), onlyKafka(dir, "all"))
	if err != nil {
		t.Fatal(err)
	}
	mustEnd(t, engines)
	for path, forbidden := range map[string]os.FileMode{
		"": 0o066, "engines.json": 0o077, "lock": 0o077, "kafka": 0o077,
	} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if open := info.Mode().Perm() & forbidden; open != 0 {
			t.Errorf("%s has mode %o", filepath.Join(dir, path), info.Mode().Perm())
		}
	}
}
