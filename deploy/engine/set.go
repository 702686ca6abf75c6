package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	lookEvery  = 500 * time.Millisecond // how often a joined set looks whether its owner is there
	waitBound  = 30 * time.Second       // for a short command that holds the directory
	retryEvery = 50 * time.Millisecond
)

// Options say which engines a command needs and how it may come by them.
type Options struct {
	DataDir     string
	EnginesHome string // as FindHome takes it

	// The engines that the command needs and has no address of.
	ClickHouse, Postgres, Kafka bool

	Owner     string // the command's name, told to others who want the directory
	Exclusive bool   // of `all`: own the engines, do not join others'
	Address   string // of an exclusive owner: where it serves, if that is known (see Announce)

	ClickHousePort, ClickHouseHTTPPort, PostgresPort, KafkaPort int // 0: free ones, kept

	Prepare func() error `json:"-"` // done before engines are started, by who starts them and nobody beside; nil is nothing

	NoSync bool         // tests only: a crash of the machine may lose what the engines acknowledged
	Log    *slog.Logger `json:"-"`
}

// Set are the engines of a data directory, our own or another process's.
type Set struct {
	record record
	dir    string
	log    *slog.Logger

	lock    *lock     // nil when joined
	running []running // what we started
	mu      sync.Mutex

	lost chan struct{}
	err  error // why, valid after lost
	quit context.CancelFunc
	wg   sync.WaitGroup
}

// running is any engine that we started.
type running interface {
	Stop(context.Context) error
	Done() <-chan struct{}
	Err() error
}

// InUseError says that another process owns the engines of a data directory.
type InUseError struct {
	DataDir string
	Owner   string // its command; empty if it has not said yet
	PID     int
	Address string // where it serves; empty if it does not
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

// Open returns the engines of a data directory: those that another process runs
// there, or, when none does, new ones that live until Stop. An exclusive owner
// waits for a short command to end; its error is an *InUseError when another
// exclusive owner is there.
func Open(ctx context.Context, o Options) (*Set, error) {
	dir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return nil, fmt.Errorf("open engines: %w", err)
	}
	o.DataDir = dir
	// PostgreSQL, another user under root, must pass; nobody may look.
	if err := os.MkdirAll(dir, dataDirMode()); err != nil {
		return nil, fmt.Errorf("open engines: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, waitBound+startBound)
	defer cancel()
	for waited := time.Now(); ; {
		l, err := tryLock(lockPath(dir))
		if err != nil {
			return nil, fmt.Errorf("open engines: %w", err)
		}
		if l != nil {
			return startSet(ctx, o, l)
		}
		r, err := readRecord(dir)
		if err != nil {
			return nil, fmt.Errorf("open engines: %w", err)
		}
		inUse := &InUseError{dir, r.Owner, r.PID, r.Address}
		switch {
		case r.alive() && o.Exclusive && r.Exclusive:
			return nil, inUse
		case r.alive() && !o.Exclusive && r.has(o):
			return joinSet(dir, r, o.Log), nil
		case r.alive() && r.Exclusive:
			return nil, fmt.Errorf("open engines: %w, without an engine that is needed here: give the same addresses as there", inUse)
		case time.Since(waited) > waitBound:
			return nil, fmt.Errorf("open engines: waited %s: %w", waitBound, inUse)
		}
		if err := pause(ctx, retryEvery); err != nil {
			return nil, fmt.Errorf("open engines: %w", err)
		}
	}
}

// startBound is how long engines may take to be ready; a recovery after a crash
// of a large store is the longest.
const startBound = 5 * time.Minute

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

// startSet starts what is needed, all at once, under the lock.
func startSet(ctx context.Context, o Options, l *lock) (*Set, error) {
	s := &Set{dir: o.DataDir, log: o.Log, lock: l, lost: make(chan struct{}), quit: func() {}}
	// What a killed owner wrote must not be taken for ours.
	if err := removeRecord(o.DataDir); err != nil {
		return nil, errors.Join(fmt.Errorf("open engines: %w", err), l.Close())
	}
	s.record = newRecord(o)
	err := s.startAll(ctx, o)
	if err == nil {
		err = writeRecord(s.dir, s.record)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open engines: %w", err), s.Stop(context.WithoutCancel(ctx)))
	}
	watching, quit := context.WithCancel(context.Background())
	s.quit = quit
	for i, e := range s.running {
		if c, ok := e.(*ClickHouse); ok {
			s.wg.Go(func() { s.keepClickHouse(watching, i, c) })
			continue
		}
		s.wg.Go(func() { s.watchEngine(watching, e) })
	}
	return s, nil
}

func (s *Set) startAll(ctx context.Context, o Options) error {
	home, err := FindHome(o.EnginesHome)
	if err != nil {
		return err
	}
	if o.Prepare != nil {
		if err := o.Prepare(); err != nil {
			return err
		}
	}
	// The first failure ends the other starts.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	logs := filepath.Join(s.dir, "log")
	var (
		wg   sync.WaitGroup
		errs []error
	)
	start := func(needed bool, f func() (running, error)) {
		if !needed {
			return
		}
		wg.Go(func() {
			e, err := f()
			s.mu.Lock()
			defer s.mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				cancel()
				return
			}
			s.running = append(s.running, e)
		})
	}
	start(o.ClickHouse, func() (running, error) {
		e, err := StartClickHouse(ctx, ClickHouseConfig{Dir: clickHouseDir(s.dir), Home: home,
			Port: o.ClickHousePort, HTTPPort: o.ClickHouseHTTPPort, Logs: logs, NoSync: o.NoSync, Log: o.Log})
		if err != nil {
			return nil, err
		}
		s.record.ClickHouse, s.record.ClickHouseHTTP = e.DSN(), e.HTTPAddr()
		return e, nil
	})
	start(o.Postgres, func() (running, error) {
		e, err := StartPostgres(ctx, PostgresConfig{Dir: filepath.Join(s.dir, "postgres"), Home: home,
			Port: o.PostgresPort, Logs: logs, NoSync: o.NoSync, Log: o.Log})
		if err != nil {
			return nil, err
		}
		s.record.Postgres = e.DSN()
		return e, nil
	})
	start(o.Kafka, func() (running, error) {
		e, err := StartKafka(ctx, KafkaConfig{Dir: filepath.Join(s.dir, "kafka"), Port: o.KafkaPort, NoSync: o.NoSync, Log: o.Log})
		if err != nil {
			return nil, err
		}
		s.record.Kafka = e.Brokers()
		return e, nil
	})
	wg.Wait()
	return errors.Join(errs...)
}

// watchEngine closes lost when an engine of ours ends unasked.
func (s *Set) watchEngine(ctx context.Context, e running) {
	select {
	case <-ctx.Done():
	case <-e.Done():
		if ctx.Err() == nil {
			s.lose(e.Err())
		}
	}
}

// joinSet uses another process's engines.
func joinSet(dir string, r record, log *slog.Logger) *Set {
	ctx, quit := context.WithCancel(context.Background())
	s := &Set{record: r, dir: dir, log: log, lost: make(chan struct{}), quit: quit}
	log.Info("joined running engines", "data_dir", dir, "owner", r.Owner, "owner_pid", r.PID)
	s.wg.Go(func() { s.watchOwner(ctx) })
	return s
}

// watchOwner closes lost when the owner let go of the lock, or another took it
// since.
func (s *Set) watchOwner(ctx context.Context) {
	for pause(ctx, lookEvery) == nil {
		r, err := readRecord(s.dir)
		if err == nil && r.Session == s.record.Session {
			l, err := tryLock(lockPath(s.dir))
			if err == nil && l == nil {
				continue
			}
			if l != nil {
				_ = l.Close() // its owner died; whoever comes next cleans up
			}
		}
		s.lose(fmt.Errorf("the engines of %s went away with `answerscope %s` (pid %d)", s.dir, s.record.Owner, s.record.PID))
		return
	}
}

func (s *Set) lose(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		close(s.lost)
	}
}

// Joined says that the engines are another process's.
func (s *Set) Joined() bool { return s.lock == nil }

// Lost is closed when an engine ended unasked, or within about a second of the
// owner's end when they are another's.
func (s *Set) Lost() <-chan struct{} { return s.lost }

// Err says why Lost is closed; nil before.
func (s *Set) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// ClickHouse is the native address with credentials; empty if not needed.
func (s *Set) ClickHouse() string { return s.record.ClickHouse }

// ClickHouseHTTP is the host:port of its HTTP interface.
func (s *Set) ClickHouseHTTP() string { return s.record.ClickHouseHTTP }

// Postgres is the address with a superuser's credentials; empty if not needed.
func (s *Set) Postgres() string { return s.record.Postgres }

// Kafka are the brokers to bootstrap from; empty if not needed.
func (s *Set) Kafka() []string { return s.record.Kafka }

// Announce tells others who want the directory where its owner serves.
func (s *Set) Announce(address string) error {
	if s.Joined() {
		return errors.New("announce address: the engines are another process's")
	}
	s.record.Address = address
	return writeRecord(s.dir, s.record)
}

// Stop ends the engines if they are ours, and lets go of the directory.
func (s *Set) Stop(ctx context.Context) error {
	s.quit()
	s.wg.Wait()
	if s.Joined() {
		return nil
	}
	errs := []error{removeRecord(s.dir)}
	var wg sync.WaitGroup
	for _, e := range s.running {
		wg.Go(func() {
			err := e.Stop(ctx)
			s.mu.Lock()
			defer s.mu.Unlock()
			errs = append(errs, err)
		})
	}
	wg.Wait()
	s.running = nil
	return errors.Join(append(errs, s.lock.Close())...)
}
