// Package visitor finds the country of a beacon's sender, and a hash that distinguishes a day's visitors of a site.
//
// An address is an argument here and in no field, file, log line or metric. The hash's key is random, shared by all
// collectors through Postgres, kept by them in memory alone, and dropped an hour after its day: then no one can find
// the visitor of a hash.
package visitor

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/dchest/siphash"
	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Visitors finds country and hash of visitors. It is safe for concurrent use; look-ups take no lock and query no
// database.
type Visitors struct {
	countryFile string // in MaxMind's format; "": none
	db          *postgres.DB
	log         *slog.Logger
	salts       atomic.Pointer[salts]
	countries   atomic.Pointer[countries]
	refresh     time.Duration // between two looks for salts and for a newer country database
	unhashed    prometheus.Counter

	saltWarnings, countryWarnings rate.Sometimes
}

// New reads the country database, a file in MaxMind's format, unless its name is "": one that cannot be read is an
// error. db may be away (postgres.OpenLater).
func New(
	countryFile string, db *postgres.DB, registerer prometheus.Registerer, log *slog.Logger,
) (*Visitors, error) {
	v := &Visitors{
		countryFile: countryFile, db: db, log: log, refresh: time.Minute,
		saltWarnings: rate.Sometimes{Interval: time.Minute}, countryWarnings: rate.Sometimes{Interval: time.Hour},
	}
	v.salts.Store(&salts{})
	if countryFile != "" {
		c, err := openCountries(countryFile)
		if err != nil {
			return nil, err
		}
		v.countries.Store(c)
	}
	auto := promauto.With(registerer)
	v.unhashed = auto.NewCounter(prometheus.CounterOpts{
		Name: "answerscope_visitor_unhashed_total",
		Help: "Visits without a visitor, because the day's salt was not known."})
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "answerscope_visitor_salt_known", Help: "1 while the salt of the present day is known, else 0."},
		func() float64 {
			if _, ok := v.salts.Load().at(time.Now()); ok {
				return 1
			}
			return 0
		})
	return v, nil
}

// maxAgent bounds the bytes of a User-Agent that are hashed.
const maxAgent = 512

// Hash returns the same number for one address and User-Agent on one brand's site on one UTC day, and another one on
// any other; never 0, unless the day's salt is not known or address is invalid. It allocates nothing.
func (v *Visitors) Hash(brand uuid.UUID, address netip.Addr, agent string, at time.Time) uint64 {
	if !address.IsValid() {
		return 0
	}
	salt, ok := v.salts.Load().at(at)
	if !ok {
		v.unhashed.Inc()
		return 0
	}
	var buffer [16 + 16 + maxAgent]byte
	bytes := address.As16()
	copy(buffer[:], brand[:])
	copy(buffer[16:], bytes[:])
	n := 32 + copy(buffer[32:], agent)
	return max(siphash.Hash(salt.k0, salt.k1, buffer[:n]), 1)
}

// Run refreshes the salts and the country database until ctx is cancelled, and reconnects when Postgres was away.
func (v *Visitors) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := v.refresh
		if err := v.refreshSalts(ctx, time.Now()); err != nil && ctx.Err() == nil {
			wait = min(wait, saltRetry)
			v.saltWarnings.Do(func() {
				v.log.Warn("visitor salts not refreshed", "cause", err,
					"next", "see that postgres is up and that no transaction reads private.visitor_salts for long, "+
						"as pg_dump does; until then old salts are not dropped, "+
						"and visits of a day whose salt is unknown have no visitor")
			})
		}
		v.refreshCountries()
		_ = lifecycle.Pause(ctx, wait)
	}
	return nil
}

// salt is the key of the hash on one UTC day.
type salt struct {
	day    int64 // since 1970
	k0, k1 uint64
}

type salts []salt

// at returns the salt of a time's day.
func (s salts) at(t time.Time) (salt, bool) {
	day := dayOf(t)
	for _, salt := range s {
		if salt.day == day {
			return salt, true
		}
	}
	return salt{}, false
}

// dayOf returns the UTC day of a time after 1970.
func dayOf(at time.Time) int64 { return at.Unix() / secondsOfDay }

const (
	secondsOfDay = 24 * 60 * 60
	// A salt is made this long before its day, so Postgres may be away as long before midnight.
	madeBefore  = 6 * time.Hour
	keptAfter   = time.Hour        // its day, a salt is kept, for clocks that are slow
	saltTimeout = 10 * time.Second // of one query
	saltRetry   = time.Second      // after a failed query
)

// saltDays returns the days whose salts are needed at now.
func saltDays(now time.Time) (days []time.Time) {
	first, last := dayOf(now.Add(-keptAfter)), dayOf(now.Add(madeBefore))
	for day := first; day <= last; day++ {
		days = append(days, time.Unix(day*secondsOfDay, 0).UTC())
	}
	return days
}

// refreshSalts reads the salts that are needed at now from Postgres and drops all others, here and there.
func (v *Visitors) refreshSalts(ctx context.Context, now time.Time) error {
	days := saltDays(now)
	v.forget(days)
	ctx, cancel := context.WithTimeout(ctx, saltTimeout)
	defer cancel()
	rows, err := v.db.Salts(ctx, days...)
	if err != nil {
		return err
	}
	var current salts
	for _, row := range rows {
		k0, k1 := binary.LittleEndian.Uint64(row.Key), binary.LittleEndian.Uint64(row.Key[8:])
		current = append(current, salt{dayOf(row.Day), k0, k1})
	}
	v.salts.Store(&current)
	return v.db.DropSalts(ctx)
}

// forget drops the salts of other days, also while Postgres is away.
func (v *Visitors) forget(days []time.Time) {
	var current salts
	for _, day := range days {
		if salt, ok := v.salts.Load().at(day); ok {
			current = append(current, salt)
		}
	}
	v.salts.Store(&current)
}
