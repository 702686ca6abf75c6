package tracking

import (
	"hash/fnv"
	"time"

	"github.com/gofrs/uuid/v5"
)

// slotOf is the start of the hour, day, week (from Monday) or month that an instant is in, in a time zone.
func slotOf(frequency string, at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	year, month, day := at.Date()
	switch frequency {
	case "hourly":
		// Not by the clock's hour, which a change of the clocks repeats.
		hour := at.Add(-time.Duration(at.Minute())*time.Minute - time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
		if changed, _ := at.ZoneBounds(); hour.Before(changed) { // by half an hour, as on Lord Howe Island: this one is longer
			return slotOf(frequency, changed.Add(-1), zone)
		}
		return hour
	case "weekly":
		return startOfDay(year, month, day-(int(at.Weekday())+6)%7, zone)
	case "monthly":
		return startOfDay(year, month, 1, zone)
	}
	return startOfDay(year, month, day, zone)
}

// startOfDay is the first instant of a day, which is not midnight where the clocks change then: there may be none, or
// two.
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

// startOf is the time from which the runs of a slot have a day to end: the slot's own, or the start of today if it
// began on a day before. A week's runs would otherwise be given up unasked from its second day on.
func startOf(slot, now time.Time, zone *time.Location) time.Time {
	if today := slotOf("daily", now, zone); today.After(slot) {
		return today
	}
	return slot
}

// after is the slot that comes next.
func after(frequency string, slot time.Time, zone *time.Location) time.Time {
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

// spreadOver leaves some of an hour for the look that finds a brand due.
const spreadOver = 50 * time.Minute

// spread is how long after the start of a slot a brand is asked, so that not all are asked at once: it is always the
// same.
func spread(brand uuid.UUID) time.Duration {
	h := fnv.New32a()
	h.Write(brand[:])
	return time.Duration(h.Sum32()%uint32(spreadOver/time.Second)) * time.Second
}
