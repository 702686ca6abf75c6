// Package engine runs the stores and the log that have no configured address: ClickHouse, PostgreSQL and a Kafka
// broker, each below one data directory and bound to loopback. They end with this process.
//
// The engines are real ones from pinned packages (package-lock.json and pom.xml in this folder; `make engines` and
// `make kafka-apache` fetch them). Open starts the engines of a data directory, or joins the engines that another
// process runs there. StartClickHouse, StartPostgres, StartKafka and StartApacheKafka start one each.
package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	ownerWatchInterval = 500 * time.Millisecond // between checks of joined engines for their owner
	waitTimeout        = 30 * time.Second       // for a short command that has the directory
	startTimeout       = 5 * time.Minute        // recovery of a large store after a crash takes longest
	retryInterval      = 50 * time.Millisecond
)

// Options select the engines of a command.
type Options struct {
	DataDir string

	ClickHouse, Postgres, Kafka bool // needed, without a configured address

	Owner     string // the command's name, shown to other processes that need the directory
	Exclusive bool   // for `all`: own the engines, never join another process's
	Address   string // of an exclusive owner's service, if known

	// Room returns an error while the disk of the directory is full, below MinFree bytes.
	Room    func() error `json:"-"`
	MinFree int64

	Prepare func() error `json:"-"` // runs before engines start, only in the process that starts them; may be nil

	Restoring bool // the directory is being restored, which others refuse until FinishRestore

	NoSync bool         // tests only: a crash of the machine may lose acknowledged data
	Log    *slog.Logger `json:"-"`
}

// Engines are the engines of a data directory, started by this process or joined.
type Engines struct {
	Addresses

	owner owner
	dir   string
	room  func() error
	log   *slog.Logger

	lock    *lock // nil when joined
	mu      sync.Mutex
	running []running // started by this process

	lost chan struct{}
	err  error // the cause, valid after lost
	quit context.CancelFunc
	wg   sync.WaitGroup
}

// running is an engine that this process started.
type running interface {
	Stop(context.Context) error
}

// InUseError means that another process owns the engines of a data directory.
type InUseError struct {
	DataDir string
	Owner   string // its command; empty if not yet known
	PID     int
	Address string // of its service; empty if it has none
}

func (e *InUseError) Error() string {
	text := fmt.Sprintf("data directory %s is in use", e.DataDir)
	if e.Owner != "" {
		text += fmt.Sprintf(" by `answerscope %s` (pid %d)", e.Owner, e.PID)
	}
	if e.Address != "" {
		text += " at " + e.Address
	}
	return text
}

// Open joins the engines that another process runs in a data directory or, if none does, starts engines that run until
// Stop. An exclusive owner waits for a short command to end; its error is an *InUseError if another exclusive owner
// runs.
func Open(ctx context.Context, o Options) (*Engines, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout+startTimeout)
	defer cancel()
	e, err := open(ctx, o)
	if _, inUse := err.(*InUseError); err != nil && !inUse { //nolint:errorlint // a wrapped one has details
		return nil, fmt.Errorf("open engines: %w", err)
	}
	return e, err
}

func open(ctx context.Context, o Options) (_ *Engines, err error) {
	if o.DataDir, err = filepath.Abs(o.DataDir); err != nil {
		return nil, err
	}
	// PostgreSQL, another user under root, must be able to pass; no other user may list it.
	if err := os.MkdirAll(o.DataDir, dataDirMode()); err != nil {
		return nil, err
	}
	if err := checkRestored(o.DataDir); err != nil && !o.Restoring {
		return nil, err
	}
	for begin := time.Now(); ; {
		l, err := tryLock(lockPath(o.DataDir))
		if err != nil {
			return nil, err
		}
		if l != nil {
			return start(ctx, o, l)
		}
		r, err := readOwner(o.DataDir)
		if err != nil {
			return nil, err
		}
		inUse := &InUseError{o.DataDir, r.Owner, r.PID, r.Address}
		switch {
		case r.alive() && o.Exclusive && r.Exclusive:
			return nil, inUse
		case r.alive() && !o.Exclusive && r.has(o):
			return join(o, r), nil
		case r.alive() && r.Exclusive:
			return nil, fmt.Errorf("%w, without an engine that is needed here: give the same addresses as there", inUse)
		case time.Since(begin) > waitTimeout:
			return nil, fmt.Errorf("waited %s: %w", waitTimeout, inUse)
		}
		if err := pause(ctx, retryInterval); err != nil {
			return nil, err
		}
	}
}

func lockPath(dir string) string { return filepath.Join(dir, "lock") }

func dataDirMode() os.FileMode {
	if os.Getuid() == 0 {
		return 0o711
	}
	return 0o700
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// start starts the needed engines concurrently, while it holds the lock.
func start(ctx context.Context, o Options, l *lock) (*Engines, error) {
	e := &Engines{dir: o.DataDir, room: o.Room, log: o.Log, lock: l, lost: make(chan struct{}), quit: func() {}}
	if e.room == nil {
		e.room = func() error { return nil }
	}
	e.owner = owner{Session: rand.Text(), PID: os.Getpid(), Owner: o.Owner, Exclusive: o.Exclusive}
	// The file of a killed owner must not be taken for this process's.
	if err := removeOwner(o.DataDir); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	err := os.RemoveAll(BackupDir(o.DataDir)) // what a backup left that was killed: a copy of everything
	if err == nil {
		err = e.startAll(ctx, o)
	}
	if err == nil {
		e.Address = o.Address
		e.owner.Addresses = e.Addresses
		err = e.owner.write(e.dir)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop(context.WithoutCancel(ctx)))
	}
	watching, quit := context.WithCancel(context.Background())
	e.quit = quit
	for i, r := range e.running {
		if c, ok := r.(child); ok { // the broker is part of this process
			e.wg.Go(func() { e.keep(watching, i, c) })
		}
	}
	return e, nil
}

func (e *Engines) startAll(ctx context.Context, o Options) error {
	if o.Prepare != nil {
		if err := o.Prepare(); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx) // the first failure cancels the other starts
	logs := filepath.Join(e.dir, "log")
	var starts []func() (running, error)
	if o.ClickHouse {
		cfg := ClickHouseConfig{
			Dir: clickHouseDir(e.dir), KeepFree: o.MinFree / 2, Logs: logs, NoSync: o.NoSync, Log: o.Log,
		}
		starts = append(starts, func() (running, error) { return StartClickHouse(ctx, cfg) })
	}
	if o.Postgres {
		cfg := PostgresConfig{Dir: filepath.Join(e.dir, "postgres"), Logs: logs, NoSync: o.NoSync, Log: o.Log}
		starts = append(starts, func() (running, error) { return StartPostgres(ctx, cfg) })
	}
	if o.Kafka {
		cfg := KafkaConfig{Dir: filepath.Join(e.dir, "kafka"), NoSync: o.NoSync, Log: o.Log}
		starts = append(starts, func() (running, error) { return StartKafka(ctx, cfg) })
	}
	for _, start := range starts {
		group.Go(func() error {
			r, err := start()
			if err != nil {
				return err
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			e.running = append(e.running, r)
			e.add(r)
			return nil
		})
	}
	return group.Wait()
}

// join uses the engines of another process.
func join(o Options, r owner) *Engines {
	ctx, quit := context.WithCancel(context.Background())
	e := &Engines{Addresses: r.Addresses, owner: r, dir: o.DataDir, log: o.Log, lost: make(chan struct{}), quit: quit}
	e.log.Info("joined running engines", "data_dir", e.dir, "owner", r.Owner, "owner_pid", r.PID)
	e.wg.Go(func() { e.watchOwner(ctx) })
	return e
}

// watchOwner closes lost when the owner has released the lock, or another process has taken it.
func (e *Engines) watchOwner(ctx context.Context) {
	for pause(ctx, ownerWatchInterval) == nil {
		r, err := readOwner(e.dir)
		if err == nil && r.Session == e.owner.Session {
			l, err := tryLock(lockPath(e.dir))
			if err == nil && l == nil {
				continue
			}
			if l != nil {
				_ = l.Close() // the owner died; the next owner cleans up
			}
		}
		const format = "the engines of %s went away with `answerscope %s` (pid %d)"
		e.lose(fmt.Errorf(format, e.dir, e.owner.Owner, e.owner.PID))
		return
	}
}

func (e *Engines) lose(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
		close(e.lost)
	}
}

// Joined reports whether another process runs the engines.
func (e *Engines) Joined() bool { return e.lock == nil }

// Lost is closed when an engine has ended too often by itself or, for joined engines, within about a second of their
// owner's end.
func (e *Engines) Lost() <-chan struct{} { return e.lost }

// Err is the cause once Lost is closed; nil before.
func (e *Engines) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Stop ends the engines if this process started them, and releases the directory.
func (e *Engines) Stop(ctx context.Context) error {
	e.quit()
	e.wg.Wait()
	if e.Joined() {
		return nil
	}
	errs := make([]error, len(e.running))
	var wg sync.WaitGroup
	for i, r := range e.running {
		wg.Go(func() { errs[i] = r.Stop(ctx) })
	}
	removed := removeOwner(e.dir)
	wg.Wait()
	e.running = nil
	return errors.Join(errors.Join(errs...), removed, e.lock.Close())
}
