package tracking

import (
	"hash/fnv"
	"time"
	_ "time/tzdata" // a machine or an image may have none

	"github.com/gofrs/uuid/v5"
)

// slotStart returns the start of the hour, day, week (from Monday) or month of an instant in a time zone.
func slotStart(frequency string, at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	year, month, day := at.Date()
	switch frequency {
	case "hourly":
		// Not by the clock's hour, which a change of the clocks repeats.
		minutes, seconds := time.Duration(at.Minute())*time.Minute, time.Duration(at.Second())*time.Second
		hour := at.Add(-minutes - seconds - time.Duration(at.Nanosecond()))
		// A change by half an hour, as on Lord Howe Island, makes the hour before it longer.
		if changed, _ := at.ZoneBounds(); hour.Before(changed) {
			return slotStart(frequency, changed.Add(-1), zone)
		}
		return hour
	case "weekly":
		return startOfDay(year, month, day-(int(at.Weekday())+6)%7, zone)
	case "monthly":
		return startOfDay(year, month, 1, zone)
	}
	return startOfDay(year, month, day, zone)
}

// startOfDay returns the first instant of a day, which is not midnight where the clocks change then: there may be none,
// or two.
func startOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if midnight.Hour() == 23 { // of the day before: the clocks go from 0 to 1 o'clock
		_, change := midnight.ZoneBounds()
		return change
	}
	if first := midnight.Add(-time.Hour); first.Hour() == 0 {
		return first
	}
	return midnight
}

// runSlot returns the slot of runs that start now: the schedule's, or the start of today if that began on an earlier
// day. A run ends within a day of its slot, so a week's runs would be given up unasked from its second day on.
func runSlot(slot, now time.Time, zone *time.Location) time.Time {
	if today := slotStart("daily", now, zone); today.After(slot) {
		return today
	}
	return slot
}

func nextSlot(frequency string, slot time.Time, zone *time.Location) time.Time {
	year, month, day := slot.In(zone).Date()
	switch frequency {
	case "hourly":
		next := slot.Add(time.Hour).In(zone)
		return next.Add(time.Duration((60-next.Minute())%60) * time.Minute)
	case "weekly":
		return startOfDay(year, month, day+7, zone)
	case "monthly":
		return startOfDay(year, month+1, 1, zone)
	}
	return startOfDay(year, month, day+1, zone)
}

// maxBrandOffset leaves some of an hour to the tick that finds a brand due.
const maxBrandOffset = 50 * time.Minute

// brandOffset spreads brands over the first hour of a slot. A brand's offset is always the same.
func brandOffset(brand uuid.UUID) time.Duration {
	h := fnv.New32a()
	h.Write(brand[:])
	return time.Duration(h.Sum32()%uint32(maxBrandOffset/time.Second)) * time.Second
}
