package visitor_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/collector/visitor"
)

// record is what MaxMind keeps of a country.
func record(country string) mmdbtype.DataType {
	return mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(country)}}
}

// flatRecord is what others keep.
func flatRecord(country string) mmdbtype.DataType {
	return mmdbtype.Map{"country_code": mmdbtype.String(country), "country": mmdbtype.String("Some Country")}
}

func countryBytes(t testing.TB, networks map[string]string, as func(string) mmdbtype.DataType) []byte {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test-Country", IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	for network, country := range networks {
		_, prefix, err := net.ParseCIDR(network)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Insert(prefix, as(country)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func countryFile(t testing.TB, networks map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "country.mmdb")
	if err := os.WriteFile(path, countryBytes(t, networks, record), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACountryIsTheDatabasesThenTheHeadersThenTheZones(t *testing.T) {
	file := countryFile(t, map[string]string{"203.0.113.0/24": "FR", "2001:db8::/32": "JP", "198.51.100.0/24": "ZZ"})
	with, without := newVisitors(t, file, nil), newVisitors(t, "", nil)
	none := netip.Addr{}
	for _, c := range []struct {
		v                    *visitor.Visitors
		address              netip.Addr
		header, zone, is, by string
	}{
		{with, address, "DE", "Asia/Tokyo", "FR", visitor.ByDatabase},
		{with, netip.MustParseAddr("2001:db8::7"), "", "", "JP", visitor.ByDatabase},
		{with, netip.MustParseAddr("192.0.2.1"), "DE", "Asia/Tokyo", "DE", visitor.ByHeader},
		// the database has what is no country
		{with, netip.MustParseAddr("198.51.100.1"), "DE", "", "DE", visitor.ByHeader},
		{with, none, "DE", "", "DE", visitor.ByHeader},
		{without, address, "de", "Asia/Tokyo", "DE", visitor.ByHeader},
		{without, address, "XK", "", "XK", visitor.ByHeader},
		{without, address, "XX", "Asia/Tokyo", "JP", visitor.ByTimeZone},
		{without, address, "T1", "Asia/Tokyo", "JP", visitor.ByTimeZone},
		{without, address, "Germany", "Asia/Tokyo", "JP", visitor.ByTimeZone},
		{without, address, "\xff\xff", "Asia/Tokyo", "JP", visitor.ByTimeZone},
		{without, address, "", "Europe/Oslo", "NO", visitor.ByTimeZone},
		{without, address, "", "Europe/Kiev", "UA", visitor.ByTimeZone}, // older names
		{without, address, "", "Asia/Calcutta", "IN", visitor.ByTimeZone},
		{without, address, "", "US/Pacific", "US", visitor.ByTimeZone},
		{without, address, "", "Iceland", "IS", visitor.ByTimeZone},
		{without, address, "", "UTC", "", ""},
		{without, address, "", "Etc/GMT+8", "", ""},
		{without, address, "", "EST", "", ""},
		{without, address, "", "Nowhere/At_all", "", ""},
		{without, address, "", "europe/berlin", "", ""}, // no browser writes it so
		{without, none, "", "", "", ""},
	} {
		if is, by := c.v.Country(c.address, c.header, c.zone); is != c.is || by != c.by {
			t.Errorf("%v, %q, %q: %q by %q, want %q by %q", c.address, c.header, c.zone, is, by, c.is, c.by)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		without.Country(address, "DE", "Europe/Berlin")
		without.Country(address, "", "Europe/Berlin")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { with.Country(address, "", "") }); n > 1 {
		t.Errorf("%v allocations in the database", n)
	}
}

// warnings counts those of databases that are not taken.
type warnings struct{ atomic.Int32 }

func (w *warnings) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("country database not taken")) {
		w.Add(1)
	}
	return len(line), nil
}

// A database is taken when it changes on disk; one that is damaged or gone is not, and the one before stays.
func TestACountryDatabaseIsTakenWhenItChanges(t *testing.T) {
	file := countryFile(t, map[string]string{"203.0.113.0/24": "FR"})
	var warned warnings
	v, err := visitor.New(file, open(t, "postgres://none@127.0.0.1:1/none"), prometheus.NewRegistry(),
		slog.New(slog.NewTextHandler(&warned, nil)))
	if err != nil {
		t.Fatal(err)
	}
	run(t, v.Every(time.Millisecond))
	is := func() string {
		country, _ := v.Country(address, "", "")
		return country
	}
	replace := func(text []byte) {
		t.Helper()
		next := file + ".next"
		if err := os.WriteFile(next, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
	}
	italy := countryBytes(t, map[string]string{"203.0.113.0/24": "IT"}, flatRecord)
	replace(italy)
	soon(t, "a new database is taken", func() bool { return is() == "IT" })
	spain := countryBytes(t, map[string]string{"203.0.113.0/24": "ES"}, record)
	asn := countryBytes(t, map[string]string{"203.0.113.0/24": "ES"}, func(string) mmdbtype.DataType {
		return mmdbtype.Map{"asn": mmdbtype.Uint32(7)}
	})
	for _, damaged := range [][]byte{nil, asn, spain[:len(spain)/2], []byte("no database")} {
		replace(damaged)
		if is() != "IT" {
			t.Error("a damaged database is asked")
		}
	}
	soon(t, "a damaged database is warned of", func() bool { return warned.Load() == 1 })
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, spain, 0o600); err != nil { // in place
		t.Fatal(err)
	}
	soon(t, "a good database is taken after bad ones", func() bool { return is() == "ES" })
	if n := warned.Load(); n != 1 {
		t.Errorf("warned %d times of bad ones", n)
	}
	replace(asn)
	soon(t, "a later one is warned of", func() bool { return warned.Load() == 2 })

	file += ".missing"
	if _, err := visitor.New(file, nil, nil, nil); err == nil {
		t.Error("a start with a database that is not there")
	}
}
