package metrics

import (
	"errors"
	"fmt"
	"net/url"
)

// Config is what an operator decides of /api/v1.
type Config struct {
	RateLimit   int      // requests a second of one key; 0 is no limit
	CacheBytes  int      // of bodies that answer repeated questions, of all organizations; 0: none is cached
	CORSOrigins []string // of pages in whose browsers it may be asked, such as https://reports.example; * is all
}

// DefaultConfig lets no page of another origin ask.
func DefaultConfig() Config { return Config{RateLimit: 100, CacheBytes: 64 << 20} }

// Validate says which setting is wrong, and what would be right.
func (c Config) Validate() error {
	var errs []error
	if c.RateLimit < 0 {
		errs = append(errs, fmt.Errorf("ANSWERSCOPE_RATE_LIMIT is %d: want requests a second, 0 for no limit", c.RateLimit))
	}
	for _, origin := range c.CORSOrigins {
		at, err := url.Parse(origin)
		if origin != "*" && (err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.Scheme+"://"+at.Host != origin) {
			errs = append(errs, fmt.Errorf("ANSWERSCOPE_CORS_ORIGINS has %q: want an origin such as https://reports.example, without a path, or *", origin))
		}
	}
	return errors.Join(errs...)
}
