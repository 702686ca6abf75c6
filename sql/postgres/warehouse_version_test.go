package postgres_test

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Whoever may have changed the warehouse draws a version after it: a sink, a repair, the mirror.
func TestTheWarehouseVersionRisesAfterEachChange(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	last := versionOf(t, db)
	rises := func(after string) {
		t.Helper()
		if now := versionOf(t, db); now <= last {
			t.Errorf("it is %d after %s, and was %d before", now, after, last)
		} else {
			last = now
		}
	}
	shared := lockShared(t, db, 0)
	if now := versionOf(t, db); now != last {
		t.Errorf("it rose from %d to %d while a batch is under way", last, now)
	}
	shared.Release()
	rises("a batch")
	stop, err := db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop.Release(); err != nil {
		t.Fatal(err)
	}
	rises("a repair")
	outbox, err := db.OpenOutbox(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer outbox.Close()
	if err := outbox.Delete(t.Context(), []postgres.Change{{ID: 1}, {ID: 2}}); err != nil {
		t.Fatal(err)
	}
	rises("a copy of edits")
	if _, err := db.Exec(t.Context(),
		"DELETE FROM public.brands WHERE slug = (SELECT min(slug) FROM public.brands)"); err != nil {
		t.Fatal(err)
	}
	rises("the deletion of a brand")
	if now := versionOf(t, db); now != last {
		t.Errorf("it rose from %d to %d by itself", last, now)
	}
}

func versionOf(t *testing.T, db *postgres.DB) int64 {
	t.Helper()
	version, err := db.WarehouseVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return version
}
