package postgres_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

// A change that a later night finds again stays one row, with the larger e-value; days outside are not returned.
func TestChangesOfPlatforms(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	day := func(n int) time.Time { return time.Date(2026, time.March, n, 0, 0, 0, 0, time.UTC) }
	for _, c := range []postgres.PlatformChange{
		{Platform: "openai", Day: day(10), EValue: 25, JudgedOn: day(16)},
		{Platform: "openai", Day: day(10), EValue: 900, JudgedOn: day(18)},
		{Platform: "openai", Day: day(10), EValue: 300, JudgedOn: day(17)},
		{Platform: "openai", Day: day(11), EValue: 21, JudgedOn: day(15)},
		{Platform: "gemini", Day: day(31), EValue: 40, JudgedOn: day(31)},
		{Platform: "xai", Day: day(1), EValue: 40, JudgedOn: day(9)},
	} {
		if err := db.AddPlatformChange(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	got, err := db.PlatformChanges(t.Context(), day(2), day(31).Add(13*time.Hour))
	days := map[string][]time.Time{}
	for _, c := range got {
		days[c.Platform] = append(days[c.Platform], c.Day)
	}
	want := map[string][]time.Time{"openai": {day(10), day(11)}, "gemini": {day(31)}}
	if err != nil || !reflect.DeepEqual(days, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	row := connected(t, dsn).QueryRow(t.Context(),
		"SELECT e_value, judged_on FROM private.platform_changes WHERE platform = 'openai' AND day = '2026-03-10'")
	var e float64
	var judged time.Time
	if err := row.Scan(&e, &judged); err != nil || e != 900 || !judged.Equal(day(18)) {
		t.Errorf("e %v, judged on %v, %v; want 900 on the 18th", e, judged, err)
	}
}
