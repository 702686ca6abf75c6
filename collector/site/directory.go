// Package site holds every brand's domains in memory, as Postgres had them a moment ago, and compares a beacon's origin
// with them.
//
// LISTEN/NOTIFY announces a change; since a notification may be missed, the version is also read every second. While
// Postgres is away the last list is used; a start without Postgres reads it from a file.
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
	poll         = time.Second            // between two reads of the version
	queryTimeout = 3 * time.Second        // for Postgres to answer one query
	pause        = 500 * time.Millisecond // between two tries to reach Postgres
	warnEvery    = time.Minute            // while Postgres is away

	// minRest is the least pause between two reads of the list; maxRest is the least for a list that takes long to
	// read: at most half of the time goes to reading.
	minRest, maxRest = 100 * time.Millisecond, time.Second
)

// Directory is the list of sites. It is safe for concurrent use; a look-up takes no lock and allocates nothing.
type Directory struct {
	file string // has the list for a start without Postgres; "": none
	from *postgres.DB
	log  *slog.Logger
	list atomic.Pointer[list] // without sites before the first read

	saved     bool         // the list is on disk, as it is; used by New and Run alone
	confirmed atomic.Int64 // by Postgres, in Unix nanoseconds; 0: never

	reads, unsaved prometheus.Counter
}

// New reads the list from file, if that has a good one, and queries no database yet. With "" no list is saved. from may
// be away (postgres.OpenLater).
func New(file string, from *postgres.DB, registerer prometheus.Registerer, log *slog.Logger) *Directory {
	auto := promauto.With(registerer)
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	d := &Directory{file: file, from: from, log: log,
		reads: counter("answerscope_site_reads_total", "Times that the list of sites was read from Postgres."),
		unsaved: counter("answerscope_site_save_failures_total",
			"Times that the list of sites could not be kept on disk."),
	}
	started := time.Now()
	auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "answerscope_sites", Help: "Brands whose domains are known."},
		func() float64 { return float64(len(d.list.Load().sites)) })
	auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "answerscope_site_age_seconds",
		Help: "Since Postgres last confirmed the list of sites, or since the start."}, func() float64 {
		if confirmed := d.confirmed.Load(); confirmed != 0 {
			return time.Since(time.Unix(0, confirmed)).Seconds()
		}
		return time.Since(started).Seconds()
	})
	d.list.Store(&list{})
	rows, err := load(file)
	if err != nil {
		log.Warn("list of sites on disk not taken", "cause", err,
			"next", "nothing: it is written again once postgres answers; until then no beacon is accepted")
	} else if rows != nil {
		d.list.Store(newList(rows))
		d.saved = true
	}
	return d
}

// Site returns the brand's site; false for an unknown brand, and before the first list.
func (d *Directory) Site(brand uuid.UUID) (*Site, bool) {
	s, ok := d.list.Load().sites[brand]
	return s, ok
}

// Registered reports whether host, as OriginHost gives it, is a domain of any brand or under one.
func (d *Directory) Registered(host string) bool {
	l := d.list.Load()
	return anyAbove(host, func(domain string) bool {
		_, ok := l.domains[domain]
		return ok
	})
}

// Ready returns nil once there is a list, Postgres's or the file's.
func (d *Directory) Ready(context.Context) error {
	if d.list.Load().sites == nil {
		return errors.New("no list of sites: postgres has not answered yet, and there is none on disk")
	}
	return nil
}

// Run follows Postgres until ctx is cancelled, and reconnects when Postgres was away.
func (d *Directory) Run(ctx context.Context) error {
	warnings := rate.Sometimes{Interval: warnEvery}
	for ctx.Err() == nil {
		confirmed := d.confirmed.Load()
		err := d.follow(ctx)
		if d.confirmed.Load() != confirmed {
			warnings = rate.Sometimes{Interval: warnEvery} // Postgres answered meanwhile
		}
		if ctx.Err() == nil {
			warnings.Do(func() {
				d.log.Warn("sites not followed", "cause", err,
					"next", "see that postgres is up; until it answers new domains are unknown and removed ones go on")
			})
		}
		_ = lifecycle.Pause(ctx, pause)
	}
	return nil
}

// follow updates the list from Postgres for as long as its connection holds.
func (d *Directory) follow(ctx context.Context) error {
	from, err := d.from.OpenSites(ctx, queryTimeout)
	if err != nil {
		return err
	}
	defer from.Close() // the next call opens another one
	current, rest := "", minRest
	for {
		version, err := from.Version(ctx)
		if err != nil {
			return err
		}
		if version != current {
			began := time.Now()
			if err := d.read(ctx, from); err != nil {
				return err
			}
			current, rest = version, min(max(minRest, time.Since(began)), maxRest)
		}
		d.confirmed.Store(time.Now().UnixNano())
		if err := d.wait(ctx, from, rest); err != nil {
			return err
		}
	}
}

// read reads the list from Postgres and saves it on disk.
func (d *Directory) read(ctx context.Context, from *postgres.Sites) error {
	rows, err := from.Read(ctx)
	if err != nil {
		return err
	}
	before := d.list.Swap(newList(rows))
	d.reads.Inc()
	if d.file == "" || d.saved && same(before.rows, rows) {
		return nil
	}
	err = save(d.file, rows)
	if d.saved = err == nil; !d.saved {
		d.unsaved.Inc()
		d.log.Warn("list of sites not kept on disk", "cause", err,
			"next", "see to the disk: a start while postgres is away would know an older list")
	}
	return nil
}

// wait returns when the list may have changed, not before a rest and at the latest after poll.
func (d *Directory) wait(ctx context.Context, from *postgres.Sites, rest time.Duration) error {
	if err := lifecycle.Pause(ctx, rest); err != nil {
		return err
	}
	_, err := from.Wait(ctx, max(poll-rest, time.Millisecond))
	return err
}
