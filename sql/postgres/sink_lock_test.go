package postgres_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

func lockShared(t *testing.T, db *postgres.DB, shard int) *postgres.SharedSinkLock {
	t.Helper()
	h, err := db.LockSinksShared(t.Context(), shard)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// stopped is whether the sinks could be stopped; they go on at once.
func stopped(t *testing.T, db *postgres.DB, shard int) bool {
	t.Helper()
	stop, err := db.LockSinksExclusive(t.Context(), shard, 20*time.Millisecond)
	if errors.Is(err, postgres.ErrSinksBusy) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stop.Held(t.Context()), stop.Release()); err != nil {
		t.Error(err)
	}
	return true
}

func TestSinksAreStoppedOnlyBetweenBatches(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	other := open(t, dsn) // another process
	first, second := lockShared(t, db, 0), lockShared(t, other, 0)
	if stopped(t, other, 0) {
		t.Error("stopped beside two batches")
	}
	first.Release()
	if stopped(t, db, 0) {
		t.Error("stopped beside a batch")
	}
	if !stopped(t, db, 1) {
		t.Error("the sinks of another shard were not stopped")
	}
	second.Release()
	if !stopped(t, db, 0) {
		t.Error("not stopped though no batch was under way")
	}
}

// A purge and a rebuild exclude each other. While the purge is under way, a request for the exclusive lock keeps no
// sink from its next batch; that the purge has changed the warehouse is noted as a version.
func TestAPurgeStopsRebuildsAndNoSink(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	other := open(t, dsn)
	before := versionOf(t, db)
	release, err := db.LockPurge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	alsoRelease, err := other.LockPurge(t.Context()) // as the nightly purge, beside one of a deletion
	if err != nil {
		t.Fatal(err)
	}
	if err := alsoRelease(); err != nil {
		t.Error(err)
	}
	for shard := range 2 {
		if stopped(t, other, shard) {
			t.Errorf("the sinks of shard %d were stopped beside a purge", shard)
		}
	}
	granted := make(chan error, 1)
	go func() {
		lock, err := other.LockSinksExclusive(t.Context(), 0, time.Minute)
		if err == nil {
			err = lock.Release()
		}
		granted <- err
	}()
	const waiting = "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = " +
		"(SELECT oid FROM pg_database WHERE datname = current_database())"
	root := connected(t, dsn)
	for one[int](t, root, waiting) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the rebuild does not wait")
		}
	}
	lockShared(t, db, 0).Release()
	if one[int](t, root, waiting) == 0 {
		t.Error("the rebuild got the lock beside a purge")
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if err := <-granted; err != nil {
		t.Error(err)
	}
	if after := versionOf(t, db); after == before {
		t.Errorf("version %v after the purge and before", after)
	}
}

// Partitions take batch after batch, so that there is hardly a moment without one.
// The exclusive lock gets its turn all the same, and they get theirs.
func TestBusySinksAreStopped(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	ctx, cancel := context.WithCancel(t.Context())
	var held, landed atomic.Int64
	var sinks sync.WaitGroup
	for range 6 {
		sinks.Go(func() {
			for ctx.Err() == nil {
				h, err := db.LockSinksShared(ctx, 0)
				if err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
				held.Add(1)
				_ = h.Held(ctx) // the batch
				held.Add(-1)
				landed.Add(1)
				h.Release()
			}
		})
	}
	for range 5 {
		before := landed.Load()
		stop, err := db.LockSinksExclusive(t.Context(), 0, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if n := held.Load(); n != 0 {
			t.Errorf("stopped with %d batches under way", n)
		}
		if err := stop.Release(); err != nil {
			t.Error(err)
		}
		for landed.Load() == before {
			if err := db.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	sinks.Wait()
}

// A lock is lost with its connection, whatever happens to be there afterwards.
func TestALostLockIsNoticed(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	h := lockShared(t, db, 0)
	if err := h.Held(t.Context()); err != nil {
		t.Error(err)
	}
	kill := func() {
		t.Helper()
		if n := one[int](t, root, "SELECT count(pg_terminate_backend(pid, 10000))::int FROM (SELECT DISTINCT pid "+
			"FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = "+
			"current_database())) AS held"); n != 1 {
			t.Fatalf("ended %d connections with the lock, want 1", n)
		}
	}
	kill()
	if h.Held(t.Context()) == nil {
		t.Error("a lost lock says it is held")
	}
	if _, err := h.Tombstones(t.Context(), "answers", nil, nil); err == nil {
		t.Error("a lost lock reads tombstones")
	}
	if !stopped(t, db, 0) {
		t.Error("a lost lock keeps the sinks from being stopped")
	}
	h.Release()
	stop, err := db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	kill()
	if stop.Held(t.Context()) == nil {
		t.Error("a lost stop says it is held")
	}
	lockShared(t, db, 0).Release()
}

// A server that is silent has lost the lock: a caller that waited for
// its word would keep his batch, and be thought at work.
func TestALockIsLostWithTheNetwork(t *testing.T) {
	t.Parallel()
	_, dsn := migrated(t)
	w := testkit.NewProxy(t, dsn)
	cfg := postgres.DefaultConfig()
	cfg.DSN = w.DSN
	db, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	db.SetSinkLockTimeout(500 * time.Millisecond)
	first, second := lockShared(t, db, 0), lockShared(t, db, 0)
	if err := errors.Join(first.Held(t.Context()), second.Held(t.Context())); err != nil {
		t.Fatal(err)
	}
	w.Drop()
	bounded, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if first.Held(bounded) == nil {
		t.Error("a server that is silent says that the sinks are held")
	}
	if _, err := second.Tombstones(bounded, "answers", nil, nil); err == nil {
		t.Error("a server that is silent reads tombstones")
	}
	first.Release()
	second.Release()
	if bounded.Err() != nil {
		t.Error("noticed only when the context had ended")
	}
}

// lockAwaited reports whether a session waits for a sink lock.
func lockAwaited(t *testing.T, db *postgres.DB) (awaited bool) {
	t.Helper()
	const question = "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted " +
		"AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
	if err := db.QueryRow(t.Context(), question).Scan(&awaited); err != nil {
		t.Fatal(err)
	}
	return awaited
}

// A caller that gave up waiting leaves no lock behind.
func TestWaitingForTheLockEndsWithItsContext(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	stop, err := db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	giveUp := func(lock func(context.Context) error) error {
		t.Helper()
		waiting, cancel := context.WithCancel(t.Context())
		defer cancel()
		failed := make(chan error, 1)
		go func() { failed <- lock(waiting) }()
		wait.For(t, "the lock to be waited for", func() bool { return lockAwaited(t, db) || len(failed) > 0 })
		cancel()
		return <-failed
	}
	err = giveUp(func(ctx context.Context) error { _, err := db.LockSinksShared(ctx, 0); return err })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("held while stopped: %v", err)
	}
	if err := stop.Release(); err != nil {
		t.Error(err)
	}
	h := lockShared(t, db, 0)
	err = giveUp(func(ctx context.Context) error { _, err := db.LockSinksExclusive(ctx, 0, time.Minute); return err })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped beside a batch: %v", err)
	}
	long, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	second, err := db.LockSinksShared(long, 0)
	if err != nil {
		t.Fatal("the lock of a caller that gave up:", err)
	}
	second.Release()
	h.Release()
}

func TestTombstonesOfABatch(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	brand, organization := w.own.brand.ID, w.own.organization.ID
	theirs := w.other.brand
	h := lockShared(t, w.db, 0)
	defer h.Release()
	read := func() postgres.Tombstones {
		t.Helper()
		b, err := h.Tombstones(t.Context(), "visits", []uuid.UUID{brand, theirs.ID, {1}},
			[]uuid.UUID{organization, w.other.organization.ID, {2}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if b := read(); len(b.Brands)+len(b.Organizations) != 0 {
		t.Errorf("tombstones %v before anything was deleted", b)
	}
	if _, err := w.root.Exec(t.Context(), "DELETE FROM public.brands WHERE id = $1", brand); err != nil {
		t.Fatal(err)
	}
	if b := read(); len(b.Brands) != 1 || !b.Brands[brand] || len(b.Organizations) != 0 {
		t.Errorf("tombstones %v, want brand %s", b, brand)
	}
	if _, err := w.root.Exec(t.Context(), "DELETE FROM public.organizations WHERE id = $1",
		w.other.organization.ID); err != nil {
		t.Fatal(err)
	}
	if b := read(); len(b.Brands) != 2 || !b.Brands[theirs.ID] || len(b.Organizations) != 1 ||
		!b.Organizations[w.other.organization.ID] {
		t.Errorf("tombstones %v, want both brands and their organization", b)
	}
	for _, text := range []string{"('visits', '2025-02-01'), ('answers', '2025-03-01')", "('visits', '2024-12-01')"} {
		if _, err := w.root.Exec(t.Context(),
			"INSERT INTO private.frozen_months (topic, month) VALUES "+text); err != nil {
			t.Fatal(err)
		}
	}
	month := func(year int, month time.Month) time.Time { return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC) }
	if got, want := read().FrozenMonths, []time.Time{month(2024, 12), month(2025, 2)}; !slices.Equal(got, want) {
		t.Errorf("frozen %v, want %v", got, want)
	}
}

// What the lock costs a batch: it is taken, checked twice and released, and the tombstones of 100 brands are read.
func BenchmarkSharedLock(b *testing.B) {
	db, _ := migrated(b)
	brands := make([]uuid.UUID, 100)
	for i := range brands {
		brands[i] = uuid.UUID{1, byte(i)}
	}
	for b.Loop() {
		h, err := db.LockSinksShared(b.Context(), 0)
		if err != nil {
			b.Fatal(err)
		}
		_, err = h.Tombstones(b.Context(), "visits", brands, brands[:3])
		if err := errors.Join(err, h.Held(b.Context()), h.Held(b.Context())); err != nil {
			b.Fatal(err)
		}
		h.Release()
	}
}
