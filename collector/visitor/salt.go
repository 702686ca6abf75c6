package visitor

import (
	"context"
	"encoding/binary"
	"time"
)

// A key is that of one UTC day.
type key struct {
	day    int64 // since 1970
	k0, k1 uint64
}

// salts are those of a few days.
type salts []key

func (s salts) of(at time.Time) (key, bool) {
	day := dayOf(at)
	for _, k := range s {
		if k.day == day {
			return k, true
		}
	}
	return key{}, false
}

// dayOf is the UTC day of a time after 1970.
func dayOf(at time.Time) int64 { return at.Unix() / secondsOfDay }

const (
	secondsOfDay = 24 * 60 * 60
	// madeBefore is how long before its day a salt is made: for so long before midnight Postgres may be away.
	madeBefore = 6 * time.Hour
	// keptAfter is how long after its day a salt is kept, for clocks that are slow.
	keptAfter = time.Hour
	// saltTimeout bounds one query.
	saltTimeout = 10 * time.Second
	// saltRetry is the pause after one that failed.
	saltRetry = time.Second
)

// saltDays are the days whose salts are needed at now.
func saltDays(now time.Time) (days []time.Time) {
	first, last := dayOf(now.Add(-keptAfter)), dayOf(now.Add(madeBefore))
	for day := first; day <= last; day++ {
		days = append(days, time.Unix(day*secondsOfDay, 0).UTC())
	}
	return days
}

// refreshSalts asks Postgres for the salts that are needed at now and forgets all others, here and there.
func (v *Visitors) refreshSalts(ctx context.Context, now time.Time) error {
	days := saltDays(now)
	v.forget(days)
	ctx, cancel := context.WithTimeout(ctx, saltTimeout)
	defer cancel()
	rows, err := v.db.Salts(ctx, days...)
	if err != nil {
		return err
	}
	var found salts
	for _, row := range rows {
		found = append(found, key{dayOf(row.Day), binary.LittleEndian.Uint64(row.Key), binary.LittleEndian.Uint64(row.Key[8:])})
	}
	v.salts.Store(&found)
	return v.db.DropSalts(ctx)
}

// forget drops the keys of other days, also while Postgres is away.
func (v *Visitors) forget(days []time.Time) {
	var kept salts
	for _, day := range days {
		if k, ok := v.salts.Load().of(day); ok {
			kept = append(kept, k)
		}
	}
	v.salts.Store(&kept)
}
