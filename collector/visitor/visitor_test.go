package visitor_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/collector/visitor"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/sql/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func newVisitors(t testing.TB, countryFile string, db *postgres.DB) *visitor.Visitors {
	t.Helper()
	v, err := visitor.New(countryFile, db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func database(t *testing.T) *postgres.DB {
	t.Helper()
	return open(t, store.ControlPlane(t).DSN)
}

func open(t *testing.T, dsn string) *postgres.DB {
	t.Helper()
	cfg := postgres.DefaultConfig()
	cfg.DSN = dsn
	db, err := postgres.OpenLater(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// run runs v until the end of the test, or until stop.
func run(t *testing.T, v *visitor.Visitors) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// soon waits until is holds.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	end := time.NewTimer(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer end.Stop()
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("never: %s", what)
		}
	}
}

var (
	brand   = uuid.Must(uuid.FromString("0192f0c1-2345-7abc-8def-0123456789ab"))
	other   = uuid.Must(uuid.FromString("0192f0c1-2345-7abc-8def-0123456789ac"))
	address = netip.MustParseAddr("203.0.113.9")
)

const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"

func TestAVisitorIsOneForADayOnASite(t *testing.T) {
	db := database(t)
	v := newVisitors(t, "", db)
	now := time.Now()
	if got := v.Hash(brand, address, agent, now); got != 0 {
		t.Errorf("without a salt %d", got)
	}
	run(t, v)
	soon(t, "the salt is known", func() bool { return v.Hash(brand, address, agent, now) != 0 })

	hash := v.Hash(brand, address, agent, now)
	for what, got := range map[string]uint64{
		"again":              v.Hash(brand, address, agent, now),
		"IPv4 in IPv6":       v.Hash(brand, netip.MustParseAddr("::ffff:203.0.113.9"), agent, now),
		"elsewhere on earth": v.Hash(brand, address, agent, now.In(time.FixedZone("", 9*3600))),
	} {
		if got != hash {
			t.Errorf("%s another visitor", what)
		}
	}
	for what, got := range map[string]uint64{
		"brand":   v.Hash(other, address, agent, now),
		"address": v.Hash(brand, address.Next(), agent, now),
		"agent":   v.Hash(brand, address, agent+" ", now),
		"none":    v.Hash(brand, address, "", now),
	} {
		if got == hash || got == 0 {
			t.Errorf("another %s, the same visitor", what)
		}
	}
	if v.Hash(brand, netip.Addr{}, agent, now) != 0 {
		t.Error("an unknown address has a visitor hash")
	}
	for _, days := range []int{-2, 2} {
		if v.Hash(brand, address, agent, now.AddDate(0, 0, days)) != 0 {
			t.Errorf("a hash of %d days from now", days)
		}
	}
	long := strings.Repeat("a", 1<<16)
	if v.Hash(brand, address, long, now) == 0 {
		t.Error("a long agent")
	}

	// Another collector, and this one started again, make the same.
	second := newVisitors(t, "", db)
	run(t, second)
	soon(t, "the salt is known", func() bool { return second.Hash(brand, address, agent, now) != 0 })
	if second.Hash(brand, address, agent, now) != hash {
		t.Error("two collectors, two visitors")
	}
	if n := testing.AllocsPerRun(100, func() { v.Hash(brand, address, agent, now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A collector that starts before its database is there accepts visits without a visitor, and has visitors once it can.
func TestASaltIsTakenOnceThereIsADatabase(t *testing.T) {
	dsn := testkit.Postgres(t)
	v := newVisitors(t, "", open(t, dsn))
	run(t, v)
	if v.Hash(brand, address, agent, time.Now()) != 0 {
		t.Error("a hash without a salt")
	}
	if err := postgres.Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
		t.Fatal(err)
	}
	soon(t, "the salt is known", func() bool { return v.Hash(brand, address, agent, time.Now()) != 0 })
}

// Salts are in the database, in memory, and nowhere else: the address is nowhere.
func TestNothingKeepsOrShowsAnAddress(t *testing.T) {
	db := database(t)
	var log bytes.Buffer
	metrics := prometheus.NewRegistry()
	file := countryFile(t, map[string]string{"203.0.113.0/24": "DE"})
	v, err := visitor.New(file, db, metrics,
		slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	stop := run(t, v)
	soon(t, "the salt is known", func() bool { return v.Hash(brand, address, agent, time.Now()) != 0 })
	for _, a := range []netip.Addr{netip.MustParseAddr("203.0.113.9"), netip.MustParseAddr("::ffff:203.0.113.9"), {}} {
		v.Country(a, "DE", "Europe/Berlin")
		v.Hash(brand, a, agent, time.Now())
		v.Hash(brand, a, agent, time.Now().AddDate(0, 0, 9))
	}
	stop()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	output := log.String() + fmt.Sprint(families) + fmt.Sprintf("%+v", v)
	for _, secret := range []string{"203.0.113", "cb007109", "203 0 113"} {
		if strings.Contains(output, secret) {
			t.Errorf("%q is in:\n%s", secret, output)
		}
	}
}
