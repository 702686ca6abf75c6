package postgres_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Two nights are summed, a repeated night replaces itself, and moves are the newest night's: signs 10 + 30 rows with
// 450 + 1,800 looks, which are 5 and 20 quarters of 90 looks: 12.5 a night.
func TestChecksOfVerdicts(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	day := func(n int) time.Time { return time.Date(2026, time.March, n, 0, 0, 0, 0, time.UTC) }
	signs := func(rows, looks, alarms int) postgres.VerdictCheck {
		return postgres.VerdictCheck{Relabelling: "signs", Reach: "brand", Rows: rows, Looks: looks,
			AlarmedLooks: 3 * alarms, AlarmedRowQuarters: alarms}
	}
	none := func(moves, held int) postgres.VerdictCheck {
		return postgres.VerdictCheck{
			Relabelling: "none", Reach: "prompts", Rows: 1, Looks: 90, Moves: moves, HeldMoves: held,
		}
	}
	for _, night := range []struct {
		day    int
		checks []postgres.VerdictCheck
	}{
		{1, []postgres.VerdictCheck{signs(99, 990, 9)}},
		{2, []postgres.VerdictCheck{signs(7, 70, 7), none(9, 9)}},
		{2, []postgres.VerdictCheck{none(5, 4), signs(10, 450, 1)}},
		{3, []postgres.VerdictCheck{signs(30, 1800, 2), none(3, 2)}},
	} {
		if err := db.StoreVerdictChecks(t.Context(), day(night.day), night.checks); err != nil {
			t.Fatal(err)
		}
	}
	got, err := db.VerdictChecks(t.Context(), day(2), day(3))
	want := []postgres.VerdictCheck{signs(40, 2250, 3), none(3, 2)}
	want[0].Nights, want[0].RowQuarters = 2, 12.5
	want[1].Nights, want[1].RowQuarters, want[1].Rows, want[1].Looks = 2, 1, 2, 180
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
