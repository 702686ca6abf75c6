package visitor

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"
	"golang.org/x/time/rate"
)

// What named a visit's country.
const (
	ByDatabase = "database"
	ByHeader   = "header"
	ByTimeZone = "time_zone"
)

// Country is the ISO 3166-1 alpha-2 code of where a visit came from, and what named it: the database, else header, the
// CDN's (passed only from a trusted proxy), else the browser's time zone; "", "" where none knows.
func (v *Visitors) Country(address netip.Addr, header, timeZone string) (country, by string) {
	if c := v.countries.Load(); c != nil && address.IsValid() {
		if country := countryOf(c.reader.Lookup(address)); country != "" {
			return country, ByDatabase
		}
	}
	if country := known(header); country != "" {
		return country, ByHeader
	}
	if country := zones[timeZone]; country != "" {
		return country, ByTimeZone
	}
	return "", ""
}

// zonesFile has every time zone that lies in one country, obsolete names too.
//
//go:embed zones.tsv
var zonesFile string

// zones has the country of a time zone, codes every country there is.
var zones, codes = readZones(zonesFile)

// readZones reads lines of a zone, a tab and its country; comments begin with #.
func readZones(text string) (zones, codes map[string]string) {
	zones, codes = map[string]string{}, map[string]string{"XK": "XK"} // Kosovo has a code that all use, and no zone
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if zone, country, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
			zones[zone], codes[country] = country, country
		}
	}
	return zones, codes
}

// known is code in upper case if there is such a country: CDNs send XX for an unknown one and T1 for Tor.
func known(code string) string { return codes[strings.ToUpper(code)] }

// countries is a database, and which file it was read from.
type countries struct {
	reader *maxminddb.Reader
	file   fs.FileInfo
}

// openCountries reads the whole file: one that is written over in place would kill a process that has it mapped.
func openCountries(path string) (*countries, error) {
	file, err := os.Stat(path) // before it is read: a change in between is seen later
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("open country database: %w", err)
	}
	c := &countries{file: file}
	if c.reader, err = maxminddb.OpenBytes(text); err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("open country database %s: %w", path, err)
	}
	return c, nil
}

// check is nil if there is a network with a country: a database of other things would go unnoticed. The library's own
// check is of more than we read, and refuses good files that are not MaxMind's.
func (c *countries) check() error {
	for network := range c.reader.Networks() {
		if err := network.Err(); err != nil {
			return err
		}
		if countryOf(network) != "" {
			return nil
		}
	}
	return errors.New("no network in it has a country; want a database of countries")
}

// countryOf reads a record: MaxMind and DB-IP keep the country's code below country, others as country_code.
func countryOf(found maxminddb.Result) string {
	if !found.Found() {
		return ""
	}
	var code string
	if err := found.DecodePath(&code, "country", "iso_code"); err != nil || code == "" {
		code = ""
		if err := found.DecodePath(&code, "country_code"); err != nil {
			return ""
		}
	}
	return known(code)
}

// refreshCountries takes a database that has changed on disk. One that is damaged, as one that is just being written,
// is not taken, and tried again.
func (v *Visitors) refreshCountries() {
	path, old := v.cfg.CountryDatabase, v.countries.Load()
	if path == "" {
		return
	}
	file, err := os.Stat(path)
	if err == nil && old != nil && os.SameFile(file, old.file) && file.ModTime().Equal(old.file.ModTime()) && file.Size() == old.file.Size() {
		return
	}
	c, err := openCountries(path)
	if err != nil {
		v.countryWarnings.Do(func() {
			v.log.Warn("country database not taken", "cause", err, "next", "put a whole file in its place; until then the one before is used")
		})
		return
	}
	v.countries.Store(c)
	v.countryWarnings = rate.Sometimes{Interval: time.Hour} // the next bad one is another one
	v.log.Info("country database taken", "built", c.reader.Metadata.BuildTime().UTC().Format(time.DateOnly))
}
