package postgres_test

import (
	"testing"
	"time"
)

func TestABookOfChores(t *testing.T) {
	db, _ := migrated(t)
	book := db.NewChores()
	names := []string{"purge", "sweep of rereads"}
	past := func(wantKnown, wantSucceeded int) (known, succeeded map[string]time.Time) {
		t.Helper()
		known, succeeded, err := book.Past(t.Context(), names)
		if err != nil || len(known) != wantKnown || len(succeeded) != wantSucceeded {
			t.Fatalf("known %v, succeeded %v, %v", known, succeeded, err)
		}
		return known, succeeded
	}
	past(0, 0)
	if err := book.Enter(t.Context(), names); err != nil {
		t.Fatal(err)
	}
	first, _ := past(2, 0)
	if err := book.Enter(t.Context(), names); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := book.Succeeded(t.Context(), "purge"); err != nil {
			t.Fatal(err)
		}
	}
	again, succeeded := past(2, 1)
	if !again["purge"].Equal(first["purge"]) || succeeded["purge"].Before(first["purge"]) {
		t.Errorf("known since %v, then %v; succeeded at %v", first, again, succeeded)
	}
}
