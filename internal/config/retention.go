package config

import (
	"errors"
	"strconv"
)

// Retention is for how many whole months, beside the present one, raw facts are kept; 0 is for ever. What was computed
// of them stays. All pipelines want the same.
type Retention struct {
	Answers     int `default:"0" placeholder:"MONTHS" help:"Whole months that raw answers are kept beside the present one; figures of older ones stay, and are never corrected again (default 0, for ever)."`
	Visits      int `default:"0" placeholder:"MONTHS" help:"The same for raw visits (default 0, for ever)."`
	Crawls      int `default:"0" placeholder:"MONTHS" help:"The same for raw requests of AI crawlers (default 0, for ever)."`
	Deadletters int `default:"0" placeholder:"MONTHS" help:"The same for records that could not be taken (default 0, for ever)."`
}

func (r Retention) validate() error {
	var errs []error
	for _, m := range []struct {
		name   string
		months int
	}{{"ANSWERS", r.Answers}, {"VISITS", r.Visits}, {"CRAWLS", r.Crawls}, {"DEADLETTERS", r.Deadletters}} {
		if m.months < 0 || m.months > 1200 {
			errs = append(errs, wrong("RETENTION_"+m.name, strconv.Itoa(m.months), "want whole months, 1 to 1200, or 0 for ever"))
		}
	}
	return errors.Join(errs...)
}
