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

// The evidence for a visit's country.
const (
	ByDatabase = "database"
	ByHeader   = "header"
	ByTimeZone = "time_zone"
)

// Country returns the ISO 3166-1 alpha-2 code of a visit's country, and the evidence: the database, else header, the
// CDN's (passed only from a trusted proxy), else the browser's time zone; "", "" without any.
func (v *Visitors) Country(address netip.Addr, header, timeZone string) (country, by string) {
	if c := v.countries.Load(); c != nil && address.IsValid() {
		if country := countryOf(c.reader.Lookup(address)); country != "" {
			return country, ByDatabase
		}
	}
	if country := countryCode(header); country != "" {
		return country, ByHeader
	}
	if country := zones[timeZone]; country != "" {
		return country, ByTimeZone
	}
	return "", ""
}

// zonesFile lists every time zone that lies in one country, obsolete names too.
//
//go:embed zones.tsv
var zonesFile string

// zones has the country of a time zone, codes every existing country.
var zones, codes = readZones(zonesFile)

// readZones reads lines of a zone, a tab and its country; comments begin with #.
func readZones(text string) (zones, codes map[string]string) {
	zones, codes = map[string]string{}, map[string]string{"XK": "XK"} // Kosovo has a common code, and no zone
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if zone, country, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
			zones[zone], codes[country] = country, country
		}
	}
	return zones, codes
}

// countryCode returns code in upper case if that country exists: CDNs send XX for an unknown one and T1 for Tor.
func countryCode(code string) string { return codes[strings.ToUpper(code)] }

// countries is a database with the state of the file that it was read from.
type countries struct {
	reader *maxminddb.Reader
	file   fs.FileInfo
}

// openCountries reads the whole file: overwritten in place, it would kill a process that maps it.
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

// check returns nil if a network has a country: a database of other things would go unnoticed. The library's own check
// covers more than we read, and refuses good files that are not MaxMind's.
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
func countryOf(result maxminddb.Result) string {
	if !result.Found() {
		return ""
	}
	var code string
	if err := result.DecodePath(&code, "country", "iso_code"); err != nil || code == "" {
		code = ""
		if err := result.DecodePath(&code, "country_code"); err != nil {
			return ""
		}
	}
	return countryCode(code)
}

// refreshCountries reads a database that has changed on disk. A damaged one, which may just be being written, is not
// used, and tried again.
func (v *Visitors) refreshCountries() {
	path, old := v.countryFile, v.countries.Load()
	if path == "" {
		return
	}
	if file, err := os.Stat(path); err == nil && old != nil && unchanged(file, old.file) {
		return
	}
	c, err := openCountries(path)
	if err != nil {
		v.countryWarnings.Do(func() {
			v.log.Warn("country database not taken", "cause", err,
				"next", "put a whole file in its place; until then the one before is used")
		})
		return
	}
	v.countries.Store(c)
	v.countryWarnings = rate.Sometimes{Interval: time.Hour} // the next bad file is another one
	v.log.Info("country database taken", "built", c.reader.Metadata.BuildTime().UTC().Format(time.DateOnly))
}

func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
