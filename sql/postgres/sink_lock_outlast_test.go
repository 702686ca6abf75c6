package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit"
)

// The sinks stay stopped while the process that stopped them is gone, as long as it
// asked for, and go on at once when it says so.
func TestAStopOutlastsItsProcess(t *testing.T) {
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
		t.Error("the stop was lost, and nobody said so")
	}
	patience, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	hold, err := other.LockSinksShared(patience, 0)
	if err != nil {
		t.Fatal(err)
	}
	hold.Release()
}
