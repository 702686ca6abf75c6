// Package visitor owns what is known of a beacon's sender: the country of its address, and a hash that distinguishes a
// day's visitors of a site.
//
// An address is an argument here and in no field, file, log line or metric. The hash's key is random, shared by all
// collectors through Postgres, kept by them in memory alone, and forgotten an hour after its day: then nobody can find
// out whose a hash was.
package visitor

import (
	"context"
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

// Config says where countries of addresses are found.
type Config struct {
	CountryDatabase string // a file in MaxMind's format; "": none
}

// DefaultConfig has no database.
func DefaultConfig() Config { return Config{} }

// Visitors finds country and hash of visitors. It is safe for concurrent use; asking it takes no lock
// and asks no database.
type Visitors struct {
	cfg       Config
	db        *postgres.DB
	log       *slog.Logger
	salts     atomic.Pointer[salts]
	countries atomic.Pointer[countries]
	refresh   time.Duration // between two looks for salts and for a newer country database
	unhashed  prometheus.Counter

	saltWarnings, countryWarnings rate.Sometimes
}

// New reads the country database, if one is configured: one that cannot be read is an
// error. db may be away (postgres.OpenLater).
func New(cfg Config, db *postgres.DB, registerer prometheus.Registerer, log *slog.Logger) (*Visitors, error) {
	v := &Visitors{cfg: cfg, db: db, log: log, refresh: time.Minute,
		saltWarnings: rate.Sometimes{Interval: time.Minute}, countryWarnings: rate.Sometimes{Interval: time.Hour}}
	v.salts.Store(&salts{})
	if cfg.CountryDatabase != "" {
		c, err := openCountries(cfg.CountryDatabase)
		if err != nil {
			return nil, err
		}
		v.countries.Store(c)
	}
	auto := promauto.With(registerer)
	v.unhashed = auto.NewCounter(prometheus.CounterOpts{
		Name: "answerscope_visitor_unhashed_total", Help: "Visits without a visitor, because the day's salt was not known."})
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "answerscope_visitor_salt_known", Help: "1 while the salt of the present day is known, else 0."},
		func() float64 {
			if _, ok := v.salts.Load().of(time.Now()); ok {
				return 1
			}
			return 0
		})
	return v, nil
}

// mostAgent is how much of a User-Agent is hashed, in bytes.
const mostAgent = 512

// Hash is the same number for one address and User-Agent on one brand's site on one UTC day, and another one on any
// other; never 0, unless the day's salt is not known or address is none. It allocates nothing.
func (v *Visitors) Hash(brand uuid.UUID, address netip.Addr, agent string, at time.Time) uint64 {
	if !address.IsValid() {
		return 0
	}
	key, ok := v.salts.Load().of(at)
	if !ok {
		v.unhashed.Inc()
		return 0
	}
	var buffer [16 + 16 + mostAgent]byte
	of16 := address.As16()
	copy(buffer[:], brand[:])
	copy(buffer[16:], of16[:])
	n := 32 + copy(buffer[32:], agent)
	return max(siphash.Hash(key.k0, key.k1, buffer[:n]), 1)
}

// Run keeps the salts and the country database new until ctx is cancelled, through every absence of Postgres.
func (v *Visitors) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := v.refresh
		if err := v.refreshSalts(ctx, time.Now()); err != nil && ctx.Err() == nil {
			wait = min(wait, saltRetry)
			v.saltWarnings.Do(func() {
				v.log.Warn("visitor salts not refreshed", "cause", err, "next", "see that postgres is up and that no transaction reads private.visitor_salts "+
					"for long, as pg_dump does; until then old salts are not forgotten, and visits of a day whose salt is unknown have no visitor")
			})
		}
		v.refreshCountries()
		_ = lifecycle.Pause(ctx, wait)
	}
	return nil
}
