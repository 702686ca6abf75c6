package postgres_test

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

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
	return versionFor(t, db, uuid.Nil, "answers").Changes
}

func versionFor(t *testing.T, db *postgres.DB, brand uuid.UUID, topics ...string) postgres.WarehouseVersion {
	t.Helper()
	version, err := db.WarehouseVersion(t.Context(), brand, topics...)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// A batch changes the version of its brands' answers, or of its topic, when it begins, and that is settled once the
// batch has landed: not while it is under way, and not after its process has died, until another has landed it.
func TestABatchChangesTheVersionOfWhatItHas(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	mine, other := uuid.UUID{1}, uuid.UUID{2}
	land := func(topic string, partition int32, landed bool, brands ...uuid.UUID) *postgres.SharedSinkLock {
		t.Helper()
		lock := lockShared(t, db, 0)
		if err := lock.Start(t.Context(), topic, partition, brands); err != nil {
			t.Fatal(err)
		}
		if landed {
			lock.Landed()
		}
		return lock
	}
	wantSettled := func(want bool, brand uuid.UUID, topics ...string) (batch int64) {
		t.Helper()
		version := versionFor(t, db, brand, topics...)
		if version.Settled != want {
			t.Errorf("%v of %s is settled: %t, want %t", topics, brand, version.Settled, want)
		}
		return version.Batch
	}
	before, othersBefore := wantSettled(true, mine, "answers"), wantSettled(true, other, "answers")
	lock := land("answers", 0, true, mine)
	if under := wantSettled(false, mine, "answers"); under <= before {
		t.Errorf("a batch began, and the version is %d as before", under)
	}
	wantSettled(false, uuid.Nil, "answers")
	if now := wantSettled(true, other, "answers"); now != othersBefore {
		t.Errorf("the version of another brand is %d, and was %d", now, othersBefore)
	}
	wantSettled(true, mine, "visits", "crawls")
	lock.Release()
	mineBefore := wantSettled(true, mine, "answers")
	land("visits", 3, true, mine).Release()
	if now := wantSettled(true, mine, "answers"); now != mineBefore {
		t.Errorf("visits changed the version of answers from %d to %d", mineBefore, now)
	}
	land("visits", 3, false, mine).Release() // the process ended in between
	wantSettled(false, other, "visits")
	wantSettled(true, other, "answers", "crawls")
	land("visits", 4, true, mine).Release()
	wantSettled(false, other, "visits")
	land("visits", 3, true, mine).Release()
	wantSettled(true, other, "visits", "answers")
}
