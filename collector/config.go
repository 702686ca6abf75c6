package collector

import (
	"errors"
	"fmt"
)

// Config is how beacons are taken.
type Config struct {
	SiteLimit     int    // beacons a second of one site; up to a second's worth may come at once
	CountryHeader string // a header in which a trusted proxy says the visitor's country; "" is none
}

// DefaultConfig trusts no header.
func DefaultConfig() Config { return Config{SiteLimit: 500} }

// Validate says everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.SiteLimit < maxItems || c.SiteLimit > 10_000_000 {
		errs = append(errs, fmt.Errorf("site limit %d: want %d, so that a whole array passes, to 10000000 beacons a second", c.SiteLimit, maxItems))
	}
	for _, b := range []byte(c.CountryHeader) {
		if (b < '0' || b > '9') && (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') && b != '-' {
			errs = append(errs, fmt.Errorf("country header %q: want the name of a header, such as CF-IPCountry", c.CountryHeader))
			break
		}
	}
	return errors.Join(errs...)
}
