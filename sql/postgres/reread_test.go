package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

const lease = time.Minute

func rereader(t *testing.T, db *postgres.DB) *postgres.RereadQueue {
	t.Helper()
	r, err := db.NewRereadQueue(lease)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *environment) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	if _, err := w.root.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// settle forgets what making the brands has queued.
func (w *environment) settle(t *testing.T) {
	t.Helper()
	w.exec(t, "DELETE FROM private.rereads")
}

// elapse lets time pass for every reread.
func (w *environment) elapse(t *testing.T, d time.Duration) {
	t.Helper()
	w.exec(t, `UPDATE private.rereads SET asked_at = asked_at - $1::interval, due_at = due_at - $1::interval,
		held_until = held_until - $1::interval, worked_at = worked_at - $1::interval`, d)
}

func (w *environment) rename(t *testing.T, brand uuid.UUID, name string) {
	t.Helper()
	w.exec(t, "UPDATE public.brands SET name = $2 WHERE id = $1", brand, name)
}

func (w *environment) state(t *testing.T, brand uuid.UUID) postgres.RereadState {
	t.Helper()
	all, err := w.db.Rereads(t.Context(), nil, &brand)
	if err != nil || len(all) != 1 {
		t.Fatalf("rereads of %s: %v, %v", brand, all, err)
	}
	return all[0]
}

func claimed(t *testing.T, r *postgres.RereadQueue) postgres.Reread {
	t.Helper()
	got, err := r.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func wantNothingDue(t *testing.T, r *postgres.RereadQueue) {
	t.Helper()
	if got, err := r.Lease(t.Context()); !errors.Is(err, postgres.ErrNotFound) {
		t.Fatalf("claimed %+v, %v; want nothing due", got, err)
	}
}

// Many edits in a row are one reread, 5 s after the last, at most 60 s after the first.
func TestEditsQueueOneReread(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.settle(t)
	brand, r := w.own.brand.ID, rereader(t, w.db)
	dueIn := func() float64 {
		return one[float64](t, w.root, "SELECT extract(epoch FROM due_at - clock_timestamp())::float8 FROM "+
			"private.rereads WHERE brand_id = $1", brand)
	}
	w.exec(t, "INSERT INTO public.competitors (brand_id, name) VALUES ($1, 'New')", brand)
	if d := dueIn(); d < 3 || d > 5 {
		t.Errorf("due in %v s, want 5", d)
	}
	if s := w.state(t, brand); s.State != "waiting" || s.Organization != w.own.organization.Slug {
		t.Errorf("%+v", s)
	}
	wantNothingDue(t, r)
	w.elapse(t, 4*time.Second)
	w.rename(t, brand, "Acme 2")
	if d := dueIn(); d < 3 || d > 5 {
		t.Errorf("after another edit due in %v s, want 5", d)
	}
	w.elapse(t, 54*time.Second)
	w.rename(t, brand, "Acme 3")
	if d := dueIn(); d < 0 || d > 2.1 {
		t.Errorf("58 s after the first edit due in %v s, want 2", d)
	}
	w.elapse(t, 3*time.Second)
	if got := claimed(t, r); got.BrandID != brand || got.OrganizationID != w.own.organization.ID || !got.FromStart ||
		got.CursorDay != nil {
		t.Errorf("claimed %+v", got)
	}
	w.exec(t, "UPDATE public.brands SET industry = 'x' WHERE id = $1", brand)
	wantNothingDue(t, rereader(t, w.db))
	if s := w.state(t, brand); s.State != "reading" {
		t.Errorf("an edit of what no answer is read by: %+v", s)
	}
}

func at(t *testing.T, r *postgres.RereadQueue, brand uuid.UUID, p postgres.Page) (asked bool) {
	t.Helper()
	asked, err := r.Advance(t.Context(), brand, p)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// A process that was killed leaves what it had in hand to the next one, which goes on where it was.
func TestARereadGoesOnBehindItsCursor(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.settle(t)
	brand := w.own.brand.ID
	w.rename(t, brand, "Acme 2")
	w.elapse(t, time.Minute)
	killed, heir := rereader(t, w.db), rereader(t, w.db)
	claimed(t, killed)
	wantNothingDue(t, heir)
	if err := killed.Begin(t.Context(), brand, 7); err != nil {
		t.Fatal(err)
	}
	day, id := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), uuid.Must(uuid.NewV7())
	at(t, killed, brand, postgres.Page{
		CursorDay: &day, CursorID: &id, Done: 5, LeftOver: 1, Revision: 3, ExtractVersion: 2,
	})
	wantNothingDue(t, heir)
	w.elapse(t, 2*lease)
	got := claimed(t, heir)
	if got.FromStart || got.CursorDay == nil || !got.CursorDay.Equal(day) || got.CursorID == nil ||
		*got.CursorID != id || got.LeftOver != 1 {
		t.Errorf("the heir has %+v", got)
	}
	if s := w.state(t, brand); s.Done != 5 || s.Total != 7 || s.Revision != 3 || s.ExtractVersion != 2 ||
		s.State != "reading" {
		t.Errorf("%+v", s)
	}
	if _, err := killed.Extend(t.Context(), brand); !errors.Is(err, postgres.ErrLeaseLost) {
		t.Errorf("the process that lost the lease has it: %v", err)
	}
	if _, err := killed.Advance(t.Context(), brand, postgres.Page{}); !errors.Is(err, postgres.ErrLeaseLost) {
		t.Errorf("the process that lost the lease went on: %v", err)
	}
	if err := killed.Finish(t.Context(), brand, "", 0); err != nil || w.state(t, brand).State != "reading" {
		t.Errorf("the process that lost the lease ended it: %v", err)
	}
	err := errors.Join(killed.Begin(t.Context(), brand, 99), killed.Pause(t.Context(), brand, 0, "late"))
	if s := w.state(t, brand); err != nil || s.Total != 7 || s.LastError != "" {
		t.Errorf("the process that lost the lease began or paused it: %+v, %v", s, err)
	}
	wantNothingDue(t, killed)
	if err := heir.Pause(t.Context(), brand, 0, ""); err != nil {
		t.Fatal(err)
	}
	if second := claimed(t, killed); second.FromStart {
		t.Errorf("what was left is begun anew: %+v", second)
	}
	w.exec(t, "DELETE FROM public.brands WHERE id = $1", brand)
	if _, err := killed.Extend(t.Context(), brand); !errors.Is(err, postgres.ErrLeaseLost) {
		t.Errorf("of a brand that is gone: %v", err)
	}
}

func TestAnEditDuringARereadBeginsItAnew(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.settle(t)
	brand, r := w.own.brand.ID, rereader(t, w.db)
	w.rename(t, brand, "Acme 2")
	w.elapse(t, time.Minute)
	claimed(t, r)
	day, id := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), uuid.Must(uuid.NewV7())
	page := postgres.Page{CursorDay: &day, CursorID: &id, Done: 5}
	if at(t, r, brand, page) {
		t.Error("asked for again before the edit")
	}
	w.rename(t, brand, "Acme 3")
	if !at(t, r, brand, page) {
		t.Error("not asked for again after the edit")
	}
	if asked, err := r.Extend(t.Context(), brand); err != nil || !asked {
		t.Errorf("Hold() = %v, %v", asked, err)
	}
	if err := r.Pause(t.Context(), brand, 0, ""); err != nil {
		t.Fatal(err)
	}
	wantNothingDue(t, r)
	w.elapse(t, time.Minute)
	if got := claimed(t, r); !got.FromStart || got.CursorDay != nil || w.state(t, brand).Done != 0 {
		t.Errorf("claimed %+v", got)
	}
	// An edit while the last page is under way is not forgotten by its end.
	w.rename(t, brand, "Acme 4")
	if err := r.Finish(t.Context(), brand, "", time.Minute); err != nil {
		t.Fatal(err)
	}
	w.elapse(t, 10*time.Second)
	if got := claimed(t, r); !got.FromStart {
		t.Errorf("claimed %+v", got)
	}
}

// What was under way with the earlier names while an edit's reread ran is met by one more look.
func TestTheRereadOfAnEditIsFollowedByALateOne(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.settle(t)
	brand, r := w.own.brand.ID, rereader(t, w.db)
	w.rename(t, brand, "Acme 2")
	w.elapse(t, time.Minute)
	claimed(t, r)
	if err := r.Finish(t.Context(), brand, "", 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	if s := w.state(t, brand); s.State != "done" || s.FinishedAt == nil {
		t.Errorf("%+v", s)
	}
	wantNothingDue(t, r)
	w.elapse(t, 3*time.Minute)
	if got := claimed(t, r); !got.FromStart {
		t.Errorf("claimed %+v", got)
	}
	if err := r.Finish(t.Context(), brand, "2 answers did not land", 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	w.elapse(t, time.Hour)
	wantNothingDue(t, r)
	if s := w.state(t, brand); s.State != "incomplete" || s.LastError != "2 answers did not land" {
		t.Errorf("%+v", s)
	}
}

func TestTheSweepQueuesWhatIsOlder(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.settle(t)
	own, other, r := w.own.brand.ID, w.other.brand.ID, rereader(t, w.db)
	revision := one[int64](t, w.root, "SELECT revision::bigint FROM public.brands WHERE id = $1", own)
	queue := func(want int64, outdated ...postgres.OutdatedBrand) {
		t.Helper()
		got, err := w.db.QueueOutdated(t.Context(), outdated, 2)
		if err != nil || got != want {
			t.Errorf("queued %d, %v; want %d", got, err, want)
		}
	}
	queue(0)
	queue(0, postgres.OutdatedBrand{BrandID: own, Revision: revision, ExtractVersion: 2},
		postgres.OutdatedBrand{BrandID: uuid.Must(uuid.NewV7())})
	queue(0, postgres.OutdatedBrand{BrandID: own, Revision: revision + 1, ExtractVersion: 1})
	queue(1, postgres.OutdatedBrand{BrandID: own, Revision: revision, ExtractVersion: 1})
	queue(1, postgres.OutdatedBrand{BrandID: own, Revision: revision - 1, ExtractVersion: 3},
		postgres.OutdatedBrand{BrandID: other, Revision: 0, ExtractVersion: 9})
	w.rename(t, other, "Emca")
	w.elapse(t, 10*time.Second)
	if got := claimed(t, r); got.BrandID != other {
		t.Errorf("what the sweep found comes before an edit: %+v", got)
	}
	if got := claimed(t, r); got.BrandID != own || !got.FromStart {
		t.Errorf("claimed %+v", got)
	}
	queue(0, postgres.OutdatedBrand{BrandID: own}) // in hand already
	if err := r.Finish(t.Context(), own, "2 answers stand as they were", 0); err != nil {
		t.Fatal(err)
	}
	queue(0, postgres.OutdatedBrand{BrandID: own}) // they would be refused again
	w.exec(t, "UPDATE private.rereads SET finished_at = finished_at - interval '21 hours' WHERE brand_id = $1", own)
	queue(1, postgres.OutdatedBrand{BrandID: own})
	if got := claimed(t, r); got.BrandID != own {
		t.Errorf("claimed %+v", got)
	}
	if err := r.Finish(t.Context(), own, "", time.Minute); err != nil {
		t.Fatal(err)
	}
	w.elapse(t, time.Hour)
	// its lease has passed; the swept one has no late look
	if got := claimed(t, r); got.BrandID != other || got.FromStart {
		t.Errorf("claimed %+v", got)
	}
	wantNothingDue(t, r)
}

// Whose turn was longest ago is next, so that a large brand does not hold up the others.
func TestRereadsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.settle(t)
	r := rereader(t, w.db)
	if n, err := w.db.RequestRereads(t.Context(), nil, nil, postgres.Days{}); err != nil || n != 2 {
		t.Fatalf("asked for %d, %v; want 2", n, err)
	}
	waiting, err := w.db.RereadBacklog(t.Context())
	if err != nil || waiting.Brands != 2 || waiting.Seconds < 0 {
		t.Errorf("waiting %+v, %v", waiting, err)
	}
	var turns []uuid.UUID
	for range 4 {
		got := claimed(t, r)
		turns = append(turns, got.BrandID)
		if err := r.Pause(t.Context(), got.BrandID, 0, "clickhouse away"); err != nil {
			t.Fatal(err)
		}
	}
	if turns[0] == turns[1] || turns[0] != turns[2] || turns[1] != turns[3] {
		t.Errorf("turns %v", turns)
	}
	if s := w.state(t, turns[0]); s.LastError != "clickhouse away" || s.State != "reading" {
		t.Errorf("%+v", s)
	}
	if err := r.Pause(t.Context(), turns[0], time.Minute, ""); err != nil { // not in hand: changes nothing
		t.Fatal(err)
	}
	paused := claimed(t, r).BrandID
	if err := r.Pause(t.Context(), paused, time.Minute, "again"); err != nil {
		t.Fatal(err)
	}
	if got := claimed(t, r); got.BrandID == paused {
		t.Error("taken up in its pause")
	}
}

// What is asked for narrows nothing that is still to be done.
func TestDaysOfAReread(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	w.settle(t)
	brand, organization, r := w.own.brand.ID, w.own.organization.ID, rereader(t, w.db)
	ask := func(first, last string) {
		t.Helper()
		var days postgres.Days
		for text, day := range map[string]**time.Time{first: &days.First, last: &days.Last} {
			if at, err := time.Parse(time.DateOnly, text); err == nil {
				*day = &at
			}
		}
		if n, err := w.db.RequestRereads(t.Context(), &organization, &brand, days); err != nil || n != 1 {
			t.Fatalf("asked for %d, %v", n, err)
		}
	}
	want := func(first, last string) {
		t.Helper()
		got := claimed(t, r)
		if got := fmt.Sprint(got.FirstDay.Format(time.DateOnly),
			got.LastDay.Format(time.DateOnly)); !strings.HasPrefix(got, first) || !strings.HasSuffix(got, last) {
			t.Errorf("days %s, want %s to %s", got, first, last)
		}
	}
	ask("2026-03-01", "2026-03-31")
	want("2026-03-01", "2026-03-31")
	ask("2026-03-10", "2026-04-30")
	w.elapse(t, 2*lease)
	want("2026-03-01", "2026-04-30")
	if err := r.Finish(t.Context(), brand, "", 0); err != nil {
		t.Fatal(err)
	}
	w.elapse(t, time.Second)
	claimed(t, r)
	if err := r.Finish(t.Context(), brand, "", 0); err != nil {
		t.Fatal(err)
	}
	ask("2026-05-01", "")
	want("2026-05-01", "2149-06-06")
	w.rename(t, brand, "Acme 2")
	ask("2026-06-01", "2026-06-02")
	w.elapse(t, 2*lease)
	want("1970-01-01", "2149-06-06")
	if s := w.state(t, brand); s.FirstDay != "" || s.LastDay != "" {
		t.Errorf("%+v", s)
	}
}
