package tracking

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestSlotsAreThoseOfTheTimeZone(t *testing.T) {
	for _, c := range []struct{ zone, frequency, now, slot, next string }{
		{"UTC", "hourly", "2026-11-23T10:37:32Z", "2026-11-23T10:00:00Z", "2026-11-23T11:00:00Z"},
		{"UTC", "daily", "2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z", "2026-11-24T00:00:00Z"},
		{"UTC", "weekly", "2026-11-22T23:59:59Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"}, // a Sunday
		{"UTC", "monthly", "2026-12-31T12:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		// half past by UTC
		{"Asia/Kolkata", "hourly", "2026-11-23T10:37:32Z", "2026-11-23T10:30:00Z", "2026-11-23T11:30:00Z"},
		{"America/New_York", "daily", "2026-11-23T04:59:00Z", "2026-11-22T05:00:00Z", "2026-11-23T05:00:00Z"},
		{"Europe/Berlin", "daily", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"}, // 25 hours
		// 2 o'clock
		{"Europe/Berlin", "hourly", "2026-10-25T00:30:00Z", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
		// 2 o'clock again
		{"Europe/Berlin", "hourly", "2026-10-25T01:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		slot := slotStart(c.frequency, at(c.now), zone)
		if next := nextSlot(c.frequency, slot, zone); !slot.Equal(at(c.slot)) || !next.Equal(at(c.next)) {
			t.Errorf("%s in %s at %s: %s until %s, want %s until %s", c.frequency, c.zone, c.now, slot.UTC(),
				next.UTC(), c.slot, c.next)
		}
	}
}

// A platform is due once a slot, from the brand's minute on; at once, if it never was, or on demand.
func TestDue(t *testing.T) {
	brand := uuid.UUID{7}
	wait := brandOffset(brand)
	midnight := at("2026-11-23T00:00:00Z")
	minute := midnight.Add(wait)
	yesterday, today := midnight.Add(-time.Hour), midnight.Add(time.Second)
	for name, c := range map[string]struct {
		last     *time.Time
		now      time.Time
		onDemand bool
		due      bool
		next     time.Time
	}{
		"never asked":          {nil, midnight, false, true, minute.AddDate(0, 0, 1)},
		"before its minute":    {&yesterday, minute.Add(-time.Second), false, false, minute},
		"before it, on demand": {&yesterday, minute.Add(-time.Second), true, true, minute.AddDate(0, 0, 1)},
		"at its minute":        {&yesterday, minute, false, true, minute.AddDate(0, 0, 1)},
		"after an outage of days": {new(midnight.AddDate(0, 0, -5)), midnight.Add(20 * time.Hour), false, true,
			minute.AddDate(0, 0, 1)},
		"asked already":              {&today, midnight.Add(20 * time.Hour), false, false, minute.AddDate(0, 0, 1)},
		"asked already, on demand":   {&today, midnight.Add(20 * time.Hour), true, false, minute.AddDate(0, 0, 1)},
		"asked early, by a schedule": {&midnight, minute, false, false, minute.AddDate(0, 0, 1)},
	} {
		id := uuid.UUID{1}
		rows := []postgres.ScheduledPlatform{{ID: id, BrandID: brand, Platform: "alpha", CheckFrequency: "daily",
			TimeZone: "UTC", LastCheckedAt: c.last}}
		due, next, later := dueTargets(c.now, rows, c.onDemand)
		when := later[id]
		if c.due {
			when = next[id]
		}
		if (len(due) == 1) != c.due || len(next)+len(later) != 1 || !when.Equal(c.next) {
			t.Errorf("%s: due %v, next %v, later %v; want %t, then %s", name, due, next, later, c.due, c.next)
		}
		if c.due && !due[0].Slot.Equal(midnight) {
			t.Errorf("%s: slot %s", name, due[0].Slot)
		}
	}
}

// What is asked on a later day than its week or month began has the whole of that day, and is asked once all the same.
func TestALateSlotHasADay(t *testing.T) {
	monday := at("2026-11-23T00:00:00Z")
	ago := monday.AddDate(0, -2, 0)
	for _, c := range []struct {
		frequency string
		last      *time.Time
		now, slot time.Time
	}{
		{"weekly", &ago, monday.Add(2 * time.Hour), monday},
		{"weekly", &ago, monday.Add(50 * time.Hour), monday.AddDate(0, 0, 2)},
		{"weekly", nil, monday.AddDate(0, 0, 6).Add(time.Minute), monday.AddDate(0, 0, 6)},
		{"monthly", nil, monday.Add(time.Hour), monday},
		{"daily", &ago, monday.Add(23 * time.Hour), monday},
		{"hourly", &ago, monday.Add(23*time.Hour + 59*time.Minute + 59*time.Second), monday.Add(23 * time.Hour)},
	} {
		row := postgres.ScheduledPlatform{ID: uuid.UUID{1}, Platform: "alpha", CheckFrequency: c.frequency,
			TimeZone: "UTC", LastCheckedAt: c.last}
		due, next, _ := dueTargets(c.now, []postgres.ScheduledPlatform{row}, true)
		if len(due) != 1 || !due[0].Slot.Equal(c.slot) {
			t.Errorf("%s at %s: %v, want slot %s", c.frequency, c.now, due, c.slot)
		}
		row.LastCheckedAt = &c.now
		if again, _, later := dueTargets(c.now.Add(time.Second), []postgres.ScheduledPlatform{row},
			true); len(again) != 0 && c.frequency != "hourly" || len(later)+len(again) != 1 ||
			!next[row.ID].After(c.now) {
			t.Errorf("%s a second later: %v", c.frequency, again)
		}
	}
}

func TestBrandsAreSpreadOverAnHour(t *testing.T) {
	var quarters [4]int
	for range 4000 {
		wait := brandOffset(uuid.Must(uuid.NewV4()))
		if wait < 0 || wait >= maxBrandOffset {
			t.Fatal(wait)
		}
		quarters[int(wait/(maxBrandOffset/4))]++
	}
	for _, n := range quarters {
		if n < 800 {
			t.Errorf("brands by quarter: %v", quarters)
		}
	}
}
