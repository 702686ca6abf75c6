package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
)

// newTracking is a job of so many runs that nobody has asked.
func newTracking(organization, brand uuid.UUID, runs int) NewTracking {
	prompt := uuid.Must(uuid.NewV4())
	n := NewTracking{
		OrganizationID: organization, BrandID: brand, Request: json.RawMessage("{}"), CreatedAt: time.Now(),
		Prompts: []NewRunPrompt{{PromptID: prompt, Prompt: json.RawMessage("{}")}},
	}
	for i := range runs {
		n.Runs = append(n.Runs, NewRun{
			PromptID: prompt, Platform: "alpha", Model: fmt.Sprint("model-", i), Sample: 1, Slot: time.Now(),
			AnswerID: uuid.Must(uuid.NewV4()),
		})
	}
	return n
}

func start(t *testing.T, db *DB, n NewTracking) uuid.UUID {
	t.Helper()
	id, err := db.StartTracking(t.Context(), n, func(Tx, uuid.UUID) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// addedBrand is a brand of a new organization.
func addedBrand(t *testing.T, db *DB) (organization, brand uuid.UUID) {
	t.Helper()
	o, err := db.AddOrganization(t.Context(), "Lumen", "")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := db.AddBrand(t.Context(), o.ID, NewBrand{Name: "Lumen", Domains: []string{"lumen.example"}})
	if err != nil {
		t.Fatal(err)
	}
	return o.ID, b.ID
}

// A start with the idempotency key of an earlier one returns that job for a day, within its organization. A start with
// the plan of a running job joins it, but not one that was cancelled, which would ask nothing.
func TestAStartThatIsRepeatedReturnsItsJob(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	organization, brand := addedBrand(t, db)
	otherOrganization, otherBrand := addedBrand(t, db)
	keyed := func(organization, brand uuid.UUID, at time.Time) uuid.UUID {
		t.Helper()
		n := newTracking(organization, brand, 1)
		n.IdempotencyKey, n.CreatedAt = new("key"), at
		return start(t, db, n)
	}
	now := time.Now()
	old := keyed(organization, brand, now.Add(-25*time.Hour))
	first, second := keyed(organization, brand, now.Add(-23*time.Hour)), keyed(organization, brand, now)
	other := keyed(otherOrganization, otherBrand, now)
	if first == old || second != first || other == first {
		t.Errorf("one key started %s 25 hours ago, %s 23 hours ago, %s now, and %s for another organization",
			old, first, second, other)
	}

	planned := func(digest string) uuid.UUID {
		t.Helper()
		n := newTracking(organization, brand, 1)
		n.Digest = []byte(digest)
		return start(t, db, n)
	}
	running, joined, another := planned("one"), planned("one"), planned("two")
	if joined != running || another == running {
		t.Errorf("one plan started %s and %s, another one %s", running, joined, another)
	}
	if _, err := db.ClaimTracking(t.Context(), running); err != nil {
		t.Fatal(err)
	}
	if err := db.CancelTracking(t.Context(), organization, running); err != nil {
		t.Fatal(err)
	}
	if again := planned("one"); again == running {
		t.Error("a start joined a job that was cancelled")
	}
}

// Once, a member queued 100,000 runs a second by starts that differed a little, until the disk was full.
func TestAnOrganizationsQueueHasALimit(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	db.SetQueueLimit(3, 2)
	organization, brand := addedBrand(t, db)
	otherOrganization, otherBrand := addedBrand(t, db)
	job := start(t, db, newTracking(organization, brand, 2))
	refused := func(runs int, want string) {
		t.Helper()
		_, err := db.StartTracking(t.Context(), newTracking(organization, brand, runs),
			func(Tx, uuid.UUID) error { return nil })
		if limit, full := errors.AsType[ErrLimit](err); !full || !limit.IsShort || !strings.Contains(limit.Text, want) {
			t.Errorf("%d runs more: %v, want %s", runs, err, want)
		}
	}
	refused(2, "at most 3 runs of an organization wait to be asked, and 2 do")
	second := start(t, db, newTracking(organization, brand, 1))
	start(t, db, newTracking(otherOrganization, otherBrand, 3))
	if _, err := db.ClaimTracking(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := db.CancelTracking(t.Context(), organization, job); err != nil {
		t.Fatal(err)
	}
	refused(2, "at most 2 jobs of an organization run at once, and 2 do") // the worker has still to end the first
	if err := db.CancelTracking(t.Context(), organization, second); err != nil {
		t.Fatal(err)
	}
	start(t, db, newTracking(organization, brand, 2))
}

// Spending has the jobs of the days from one to another, both whole, in UTC.
func TestSpendingIsOfItsDays(t *testing.T) {
	t.Parallel()
	db := openMigrated(t)
	organization, brand := addedBrand(t, db)
	first, last := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	end := last.AddDate(0, 0, 1)
	for i, at := range []time.Time{first.Add(-time.Second), first, end.Add(-time.Second), end} {
		n := newTracking(organization, brand, i+1)
		n.CreatedAt = at
		start(t, db, n)
	}
	days, err := db.TrackingSpending(t.Context(), organization, first, last, brand)
	var got []string
	for _, d := range days {
		got = append(got, fmt.Sprintf("%s %d", d.Day.Format(time.DateOnly), d.Runs))
	}
	if want := []string{"2026-03-02 2", "2026-03-04 3"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("runs by day %q, %v; want %q", got, err, want)
	}
}
