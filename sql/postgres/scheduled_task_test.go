package postgres_test

import (
	"testing"
	"time"
)

func TestTheHistoryOfScheduledTasks(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	history := db.TaskHistory()
	names := []string{"purge", "sweep of rereads"}
	read := func(wantKnown, wantSucceeded int) (known, succeeded map[string]time.Time) {
		t.Helper()
		known, succeeded, err := history.Read(t.Context(), names)
		if err != nil || len(known) != wantKnown || len(succeeded) != wantSucceeded {
			t.Fatalf("known %v, succeeded %v, %v", known, succeeded, err)
		}
		return known, succeeded
	}
	read(0, 0)
	if err := history.Add(t.Context(), names); err != nil {
		t.Fatal(err)
	}
	first, _ := read(2, 0)
	if err := history.Add(t.Context(), names); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := history.Succeeded(t.Context(), "purge"); err != nil {
			t.Fatal(err)
		}
	}
	again, succeeded := read(2, 1)
	if !again["purge"].Equal(first["purge"]) || succeeded["purge"].Before(first["purge"]) {
		t.Errorf("known since %v, then %v; succeeded at %v", first, again, succeeded)
	}
}
