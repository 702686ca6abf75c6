// Package site owns which hosts are a brand's own: every brand's domains in memory, as Postgres had them a moment ago,
// and the comparison of a beacon's origin with them.
//
// LISTEN/NOTIFY announces a change; since a notification may be missed, one is also looked for every second. While
// Postgres is away the last list is used; a start without Postgres takes it from a file.
package site

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	poll         = time.Second            // between two looks for a change
	queryTimeout = 3 * time.Second        // for Postgres to answer one query
	pause        = 500 * time.Millisecond // between two tries to reach Postgres
	warnEvery    = time.Minute            // that Postgres is away

	// minRest is the least between two readings, however many changes there are; maxRest is the least for a list that
	// takes long to read: at most half of the time goes to reading.
	minRest, maxRest = 100 * time.Millisecond, time.Second
)

// Directory is the list of sites. It is safe for concurrent use; a look-up takes no lock and allocates nothing.
type Directory struct {
	file string // keeps the list for a start without Postgres; "": none
	from *postgres.DB
	log  *slog.Logger
	list atomic.Pointer[list] // without sites: none is known
	kept bool                 // on disk, as it is; used by New and Run alone
	seen atomic.Int64         // when Postgres last confirmed the list, Unix nanoseconds; 0: never

	reads, unsaved prometheus.Counter
}

// New takes the list from file, if there is a good one, and asks no database yet. With "" no list is kept. from may be
// away (postgres.OpenLater).
func New(file string, from *postgres.DB, registerer prometheus.Registerer, log *slog.Logger) *Directory {
	auto := promauto.With(registerer)
	d := &Directory{file: file, from: from, log: log,
		reads: auto.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_site_reads_total", Help: "Times that the list of sites was read from Postgres."}),
		unsaved: auto.NewCounter(prometheus.CounterOpts{
			Name: "answerscope_site_save_failures_total", Help: "Times that the list of sites could not be kept on disk."}),
	}
	started := time.Now()
	auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "answerscope_sites", Help: "Brands whose domains are known."}, func() float64 {
		return float64(len(d.list.Load().sites))
	})
	auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "answerscope_site_age_seconds",
		Help: "Since Postgres last confirmed the list of sites, or since the start."}, func() float64 {
		if seen := d.seen.Load(); seen != 0 {
			return time.Since(time.Unix(0, seen)).Seconds()
		}
		return time.Since(started).Seconds()
	})
	d.list.Store(&list{})
	rows, err := load(file)
	if err != nil {
		log.Warn("list of sites on disk not taken", "cause", err, "next", "nothing: it is written again once postgres answers; until then no beacon is accepted")
	} else if rows != nil {
		d.list.Store(newList(rows))
		d.kept = true
	}
	return d
}

// Site returns the brand's site; false if there is no such brand, or no list yet.
func (d *Directory) Site(brand uuid.UUID) (*Site, bool) {
	s, ok := d.list.Load().sites[brand]
	return s, ok
}

// Registered reports whether host, as OriginHost gives it, is a domain of any brand or under one.
func (d *Directory) Registered(host string) bool {
	l := d.list.Load()
	return upwards(host, func(domain string) bool {
		_, found := l.domains[domain]
		return found
	})
}

// Ready is nil once any list is known, Postgres's or the file's.
func (d *Directory) Ready(context.Context) error {
	if d.list.Load().sites == nil {
		return errors.New("no list of sites: postgres has not answered yet, and there is none on disk")
	}
	return nil
}

// Run follows Postgres until ctx is cancelled, whether or not it is there.
func (d *Directory) Run(ctx context.Context) error {
	warnings := rate.Sometimes{Interval: warnEvery}
	for ctx.Err() == nil {
		confirmed := d.seen.Load()
		err := d.follow(ctx)
		if d.seen.Load() != confirmed {
			warnings = rate.Sometimes{Interval: warnEvery} // it was there meanwhile
		}
		if ctx.Err() == nil {
			warnings.Do(func() {
				d.log.Warn("sites not followed", "cause", err, "next", "see that postgres is up; until it answers new domains are unknown and removed ones go on")
			})
		}
		_ = lifecycle.Pause(ctx, pause)
	}
	return nil
}

// follow keeps the list as Postgres has it for as long as its connection holds.
func (d *Directory) follow(ctx context.Context) error {
	from, err := d.from.OpenSites(ctx, queryTimeout)
	if err != nil {
		return err
	}
	defer from.Close() // another one is opened, whatever this returns
	known, rest := "", minRest
	for {
		version, err := from.Version(ctx)
		if err != nil {
			return err
		}
		if version != known {
			began := time.Now()
			if err := d.read(ctx, from); err != nil {
				return err
			}
			known, rest = version, min(max(minRest, time.Since(began)), maxRest)
		}
		d.seen.Store(time.Now().UnixNano())
		if err := d.wait(ctx, from, rest); err != nil {
			return err
		}
	}
}

// read takes the list from Postgres and keeps it on disk.
func (d *Directory) read(ctx context.Context, from *postgres.Sites) error {
	rows, err := from.Read(ctx)
	if err != nil {
		return err
	}
	before := d.list.Swap(newList(rows))
	d.reads.Inc()
	if d.file == "" || d.kept && same(before.rows, rows) {
		return nil
	}
	err = save(d.file, rows)
	if d.kept = err == nil; !d.kept {
		d.unsaved.Inc()
		d.log.Warn("list of sites not kept on disk", "cause", err, "next", "see to the disk: a start while postgres is away would know an older list")
	}
	return nil
}

// wait returns when there may be a change, not before a rest and at the latest after poll.
func (d *Directory) wait(ctx context.Context, from *postgres.Sites, rest time.Duration) error {
	if err := lifecycle.Pause(ctx, rest); err != nil {
		return err
	}
	_, err := from.Wait(ctx, max(poll-rest, time.Millisecond))
	return err
}
