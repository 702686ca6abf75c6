package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// What was deleted is due at once, again when records of it that were under way have landed, and then every night.
func TestADeletionIsPurgedAtOnceAgainAndNightly(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	due := func(again, every time.Duration) []postgres.Tombstone {
		t.Helper()
		all, err := w.db.DueTombstones(t.Context(), again, every)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := due(0, 0); len(got) > 0 {
		t.Fatalf("nothing was deleted, and %v is due", got)
	}
	if _, err := w.db.Exec(t.Context(), "DELETE FROM public.brands WHERE id = $1", w.own.brand.ID); err != nil {
		t.Fatal(err)
	}
	if waiting, oldest, err := w.db.PurgeBacklog(t.Context()); err != nil || waiting != 1 || oldest < 0 {
		t.Errorf("%d wait for %v, %v", waiting, oldest, err)
	}
	first := due(time.Hour, 24*time.Hour)
	if len(first) != 1 || first[0].Kind != "brand" || first[0].ID != w.own.brand.ID ||
		first[0].OrganizationID != w.own.organization.ID || first[0].PurgedAt != nil {
		t.Fatalf("due at once: %+v", first)
	}
	if err := w.db.MarkPurged(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if waiting, _, err := w.db.PurgeBacklog(t.Context()); err != nil || waiting != 0 {
		t.Errorf("%d wait, %v", waiting, err)
	}
	if got := due(time.Hour, 24*time.Hour); len(got) > 0 {
		t.Errorf("purged now, and %v is due", got)
	}
	ago := func(deleted, purged string) {
		t.Helper()
		if _, err := w.root.Exec(t.Context(),
			"UPDATE private.tombstones SET at = now() - $1::interval, purged_at = now() - $2::interval", deleted,
			purged); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		deleted, purged string
		due             bool
	}{
		{"9 minutes", "9 minutes", false},
		{"11 minutes", "11 minutes", true}, // its tenth minute came since
		{"12 minutes", "1 minute", false},
		{"3 days", "23 hours", false},
		{"3 days", "25 hours", true},
	} {
		ago(c.deleted, c.purged)
		if got := due(10*time.Minute, 24*time.Hour); len(got) == 1 != c.due {
			t.Errorf("deleted %s ago, purged %s ago: due %v", c.deleted, c.purged, got)
		}
	}
}

// Sinks drop records of a deleted brand for ever, so none is made again under its id.
func TestADeletedBrandIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	const insertAgain = "INSERT INTO public.brands (id, organization_id, name) VALUES ($1, $2, 'Again')"
	if _, err := w.db.Exec(t.Context(), "DELETE FROM public.brands WHERE id = $1", w.own.brand.ID); err != nil {
		t.Fatal(err)
	}
	if got := w.user(t, w.own.users["member"], insertAgain, w.own.brand.ID,
		w.own.organization.ID); got.code != "23514" || !strings.Contains(got.message, "was deleted") {
		t.Errorf("with its old id: %+v", got)
	}
	if got := w.user(t, w.own.users["member"], insertAgain, uuid.Must(uuid.NewV4()),
		w.own.organization.ID); got != (outcome{rows: 1}) {
		t.Errorf("with a new id: %+v", got)
	}
}

func TestAFrozenMonthStaysFrozen(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	month := func(year int, m time.Month) time.Time { return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC) }
	if before, err := db.FrozenBefore(t.Context(), "answers"); err != nil || !before.IsZero() {
		t.Errorf("frozen before %v, %v", before, err)
	}
	stop, err := db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer stop.Release()
	for _, c := range []struct {
		before time.Time
		fresh  int
		frozen time.Time
	}{
		{time.Date(2020, 3, 17, 0, 0, 0, 0, time.UTC), 2, month(2020, 3)},
		{month(2021, 1), 10, month(2021, 1)},
		{month(2020, 6), 0, month(2021, 1)}, // nothing thaws
	} {
		n, err := stop.Freeze(t.Context(), "answers", c.before)
		if err != nil || n != c.fresh {
			t.Errorf("%d months are new before %v, %v; want %d", n, c.before, err, c.fresh)
		}
		if before, err := db.FrozenBefore(t.Context(), "answers"); err != nil || !before.Equal(c.frozen) {
			t.Errorf("frozen before %v, %v; want %v", before, err, c.frozen)
		}
	}
	frozen, err := db.FrozenMonths(t.Context(), "answers", []time.Time{month(2020, 12), month(2021, 1)})
	if err != nil || len(frozen) != 1 || !frozen[month(2020, 12)] {
		t.Errorf("frozen %v, %v", frozen, err)
	}
	if frozen, err := db.FrozenMonths(t.Context(), "visits", []time.Time{month(2020, 12)}); err != nil ||
		len(frozen) != 0 {
		t.Errorf("of visits %v, %v", frozen, err)
	}
	if got := postgres.MonthOf(time.Date(2026, 3, 1, 1, 0, 0, 0,
		time.FixedZone("", 2*3600))); !got.Equal(month(2026, 2)) {
		t.Errorf("month %v", got)
	}
}

// Months are frozen on every shard or on none: the sinks of all of them go on with the one connection that would
// freeze.
func TestSinksOfAllShardsAreStoppedByOneConnection(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	stop, err := db.LockSinksExclusive(t.Context(), 0, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop.AddShard(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if stopped(t, db, 1) {
		t.Error("the sinks of shard 1 were stopped twice")
	}
	busy := lockShared(t, db, 2)
	if err := stop.AddShard(t.Context(), 2); !errors.Is(err, postgres.ErrSinksBusy) {
		t.Errorf("%v beside a batch", err)
	}
	busy.Release()
	const cut = "SELECT count(pg_terminate_backend(pid, 10000))::int FROM (SELECT DISTINCT pid, locktype, mode, " +
		"database FROM pg_locks) AS held WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND database = " +
		"(SELECT oid FROM pg_database WHERE datname = current_database())"
	if n := one[int](t, root, cut); n != 1 {
		t.Fatalf("%d connections stopped the sinks, want 1", n)
	}
	if !stopped(t, db, 1) {
		t.Error("the sinks of shard 1 stand still without the connection")
	}
	if _, err := stop.Freeze(t.Context(), "answers", time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)); err == nil {
		t.Error("frozen while sinks go on")
	}
	_ = stop.Release()
	if before, err := db.FrozenBefore(t.Context(), "answers"); err != nil || !before.IsZero() {
		t.Errorf("frozen before %v, %v", before, err)
	}
}
