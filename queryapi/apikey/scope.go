package apikey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
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

// effective are the scopes of a key, with the default one where it names none.
func effective(of []string) []string {
	if len(of) == 0 {
		return []string{MetricsRead}
	}
	return of
}

// leastRole is the role that a key's user needs for a scope beyond reading: a key does no more than its user may.
var leastRole = map[string]string{TrackingWrite: identity.Member}

// checkScope says why a key must not be used for what a scope is for; nil where it may.
func checkScope(caller identity.Identity, scope string) error {
	if !slices.Contains(effective(caller.Scopes), scope) {
		return problem.New(problem.Forbidden, "the key lacks the scope %s: want one that `answerscope key create --scope %s` makes", scope, scope)
	}
	return CheckRole(caller.Role, scope)
}

// CheckRole says which of the scopes are of no use to a user of that role.
func CheckRole(role string, asked ...string) error {
	for _, scope := range asked {
		if least, ok := leastRole[scope]; ok && !(identity.Identity{Role: role}).AtLeast(least) {
			return problem.New(problem.Forbidden, "the scope %s is not for a %s: want the role %s or one above it", scope, role, least)
		}
	}
	return nil
}
