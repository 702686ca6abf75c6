package apikey

import (
	"fmt"
	"slices"
	"strings"
)

// The scopes of a key.
const (
	MetricsRead   = "metrics:read"   // ask /api/v1
	TrackingWrite = "tracking:write" // start tracking jobs
)

var scopes = []string{MetricsRead, TrackingWrite}

// CheckScopes says which of the scopes for a new key are unknown. None at all means metrics:read.
func CheckScopes(asked []string) error {
	for _, scope := range asked {
		if !slices.Contains(scopes, scope) {
			return fmt.Errorf("scope %q: want some of %s", scope, strings.Join(scopes, ", "))
		}
	}
	return nil
}

// allows says whether a key with these scopes may do something.
func allows(of []string, scope string) bool {
	return slices.Contains(of, scope) || len(of) == 0 && scope == MetricsRead
}
