package config

import (
	"errors"
	"strconv"
	"strings"
)

// AccountLimits limit the requests to one account at an AI platform. A nil part is not set.
type AccountLimits struct {
	RequestsPerMinute *int
	TokensPerMinute   *int // 0: no limit
	InFlight          *int
}

const (
	maxAccountRequests = 1_000_000 // a minute, and in flight
	maxAccountTokens   = 1_000_000_000
)

var errAccountLimits = errors.New("want requests=1 to 1000000 (a minute), tokens=0 to 1000000000 (a minute; 0 is no " +
	"limit), in-flight=1 to 1000000, each at most once and separated by commas, such as requests=5000,in-flight=200")

// Check refuses a limit outside its range.
func (l AccountLimits) Check() error {
	outside := func(limit *int, low, high int) bool { return limit != nil && (*limit < low || *limit > high) }
	if outside(l.RequestsPerMinute, 1, maxAccountRequests) || outside(l.TokensPerMinute, 0, maxAccountTokens) ||
		outside(l.InFlight, 1, maxAccountRequests) {
		return errAccountLimits
	}
	return nil
}

// parseAccountLimits reads parts such as requests=5000,tokens=2000000,in-flight=200; "" has none.
func parseAccountLimits(text string) (l AccountLimits, err error) {
	if text == "" {
		return l, nil
	}
	parts := map[string]**int{"requests": &l.RequestsPerMinute, "tokens": &l.TokensPerMinute, "in-flight": &l.InFlight}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		limit, ok := parts[strings.TrimSpace(name)]
		number, err := strconv.Atoi(strings.TrimSpace(value))
		if !ok || *limit != nil || err != nil {
			return AccountLimits{}, errAccountLimits
		}
		*limit = &number
	}
	return l, l.Check()
}
