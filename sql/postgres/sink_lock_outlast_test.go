package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// The exclusive lock outlasts a killed process for the time that it was given, and ends at once where it is released.
func TestAStopOutlastsItsProcess(t *testing.T) {
	t.Parallel()
	other, dsn := migrated(t)
	w := testkit.NewProxy(t, dsn)
	db := open(t, w.DSN)
	stop, err := db.LockSinksExclusive(t.Context(), 0, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	end, err := stop.Outlast(t.Context(), db, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if stopped(t, other, 0) {
		t.Error("stopped twice")
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if err := stop.Held(t.Context()); err != nil {
		t.Error(err)
	}
	killed, err := stop.Outlast(t.Context(), db, 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	w.Cut()
	if stopped(t, other, 0) {
		t.Error("the sinks went on with the connection")
	}
	if err := killed(); err == nil {
		t.Error("the lock was lost without an error")
	}
	bounded, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	shared, err := other.LockSinksShared(bounded, 0)
	if err != nil {
		t.Fatal(err)
	}
	shared.Release()
}
