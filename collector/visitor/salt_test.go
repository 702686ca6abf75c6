package visitor

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Whatever the hour, the salts of now, of an hour ago and of the coming six hours are needed, and no others.
func TestWantedDays(t *testing.T) {
	midnight := time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC)
	for hour := range 48 {
		now := midnight.Add(time.Duration(hour)*time.Hour + time.Minute)
		var want []time.Time
		for day := midnight.AddDate(0, 0, -1); day.Before(midnight.AddDate(0, 0, 4)); day = day.AddDate(0, 0, 1) {
			if now.Add(madeBefore).After(day) && now.Before(day.Add(25*time.Hour)) {
				want = append(want, day)
			}
		}
		if got := saltDays(now); !slices.Equal(got, want) {
			t.Errorf("at %v: %v, want %v", now, got, want)
		}
	}
}

// A salt is known madeBefore of its day and forgotten after it, also while Postgres is away.
func TestSaltsAreForgottenWithoutPostgres(t *testing.T) {
	v := &Visitors{}
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	today := dayOf(now)
	v.salts.Store(&salts{{today, 1, 2}, {today + 1, 3, 4}})
	known := func(at time.Time) bool { _, ok := v.salts.Load().at(at); return ok }
	v.forget(saltDays(now.Add(4*time.Hour + 30*time.Minute))) // half past midnight
	if !known(now) || !known(now.Add(5*time.Hour)) {
		t.Error("half an hour after midnight both days are known")
	}
	v.forget(saltDays(now.Add(5*time.Hour + time.Minute)))
	if known(now) || !known(now.Add(6*time.Hour)) {
		t.Error("an hour after midnight yesterday is forgotten")
	}
	v.forget(saltDays(now.Add(48 * time.Hour)))
	if len(*v.salts.Load()) != 0 {
		t.Error("keys of the past")
	}
}

func BenchmarkHash(b *testing.B) {
	v := &Visitors{}
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	v.salts.Store(&salts{{dayOf(now), 1, 2}})
	address := netip.MustParseAddr("203.0.113.9")
	b.ReportAllocs()
	for b.Loop() {
		v.Hash(uuid.UUID{1}, address, "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", now)
	}
}
