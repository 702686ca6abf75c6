package tracking

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// years are zones with a year in which their clocks change in a way of its own, if they do.
var years = map[string]int{
	"UTC":                 2026,
	"Asia/Kolkata":        2026, // half past by UTC
	"Europe/Berlin":       2026,
	"America/Sao_Paulo":   2018, // there was no midnight on the day of the change
	"Africa/Cairo":        2026, // the same, and an hour before midnight twice
	"America/Havana":      2026, // midnight twice
	"Australia/Lord_Howe": 2026, // by half an hour
}

// Slots are one after the other and leave nothing out: each instant is in the slot that began last.
func TestSlotsFollowOneAnother(t *testing.T) {
	for name, year := range years {
		zone := location(t, name)
		for _, frequency := range []string{"hourly", "daily", "weekly", "monthly"} {
			end := time.Date(year+1, 1, 2, 0, 0, 0, 0, time.UTC)
			for slot := slotStart(frequency, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), zone); slot.Before(end); {
				next := nextSlot(frequency, slot, zone)
				if !next.After(slot) {
					t.Fatalf("%s in %s: %s comes after %s", frequency, name, next, slot)
				}
				for _, at := range []time.Time{slot, slot.Add(next.Sub(slot) / 2), next.Add(-time.Hour),
					next.Add(-time.Minute), next.Add(-1)} {
					if got := slotStart(frequency, at.UTC(), zone); !at.Before(slot) && !got.Equal(slot) {
						t.Errorf("%s in %s at %s: slot %s, want %s", frequency, name, at, got, slot)
					}
				}
				if year, month, day := next.Add(-1).In(zone).Date(); frequency != "hourly" &&
					next.In(zone).Day() == day {
					t.Errorf("%s in %s: a slot begins at %s, in the middle of %d-%d-%d", frequency, name, next, year,
						month, day)
				}
				slot = next
			}
		}
	}
}

// A brand that is looked at every ten seconds is asked once in each slot of a year, in their order, whatever its
// minute.
func TestEverySlotIsAskedOnce(t *testing.T) {
	brands := []uuid.UUID{brandWaiting(time.Minute), brandWaiting(time.Hour), {7}}
	for name, year := range years {
		zone := location(t, name)
		for _, frequency := range []string{"hourly", "daily", "weekly", "monthly"} {
			for i, brand := range brands {
				row := postgres.ScheduledPlatform{ID: uuid.UUID{1}, BrandID: brand, Platform: "alpha",
					CheckFrequency: frequency, TimeZone: name}
				now := time.Date(year, 1, 1, 0, 0, 3+i, 0, time.UTC)
				end := now.AddDate(1, 0, 1)
				row.LastCheckedAt = new(now)
				slot := slotStart(frequency, now, zone)
				for now.Before(end) {
					due, next, later := dueTargets(now, []postgres.ScheduledPlatform{row}, false)
					at := later[row.ID]
					if len(due) > 0 {
						at = next[row.ID]
						row.LastCheckedAt = new(now)
						if slot = nextSlot(frequency, slot, zone); !slotStart(frequency, now, zone).Equal(slot) {
							t.Fatalf("%s in %s: asked at %s in slot %s, want that of %s", frequency, name, now,
								slotStart(frequency, now, zone), slot)
						}
					}
					if !at.After(now) {
						t.Fatalf("%s in %s at %s: next at %s", frequency, name, now, at)
					}
					now = now.Add((at.Sub(now) + ScheduleInterval - 1).Truncate(ScheduleInterval))
				}
				if nextSlot(frequency, slot, zone).Before(slotStart(frequency, end, zone)) {
					t.Errorf("%s in %s, %s after the hour: asked last in slot %s", frequency, name, brandOffset(brand),
						slot)
				}
			}
		}
	}
}

// brandWaiting is the brand of many whose minute is the last one before a time.
func brandWaiting(below time.Duration) (found uuid.UUID) {
	latest := time.Duration(-1)
	for i := range 20_000 {
		brand := uuid.UUID{byte(i), byte(i >> 8), byte(i >> 16)}
		if wait := brandOffset(brand); wait < below && wait > latest {
			found, latest = brand, wait
		}
	}
	return found
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}
