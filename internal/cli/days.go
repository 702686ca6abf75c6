package cli

import (
	"fmt"
	"time"
)

// days reads the flags --from and --to; nil where one is absent.
func days(from, to string) (first, last *time.Time, err error) {
	if first, err = day("--from", from); err != nil {
		return nil, nil, err
	}
	if last, err = day("--to", to); err != nil {
		return nil, nil, err
	}
	if first != nil && last != nil && first.After(*last) {
		return nil, nil, fmt.Errorf("--from %s is after --to %s", from, to)
	}
	return first, last, nil
}

func day(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil, fmt.Errorf("%s %q: want a day such as 2026-03-01", flag, text)
	}
	return &at, nil
}
