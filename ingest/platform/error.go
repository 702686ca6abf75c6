package platform

import (
	"fmt"
	"time"
)

// Class is the kind of a failure.
type Class string

// The classes. A run is worth asking again only where Retryable says so.
const (
	RateLimited     Class = "rate_limited"     // too many questions; again after RetryAfter
	Quota           Class = "quota"            // the account's budget is spent
	Auth            Class = "auth"             // the key is missing, wrong or not allowed this
	Invalid         Class = "invalid"          // the platform refuses the question itself
	Unavailable     Class = "unavailable"      // it does not answer, or with its own failure
	Timeout         Class = "timeout"          // it took longer than it was given
	ContentFiltered Class = "content_filtered" // it answers that it will not answer
	ChangedShape    Class = "changed_shape"    // it answered in an unknown form
)

// Classes lists every class.
var Classes = []Class{RateLimited, Quota, Auth, Invalid, Unavailable, Timeout, ContentFiltered, ChangedShape}

// Retryable reports whether the same question may succeed later without a change.
func (c Class) Retryable() bool {
	return c == RateLimited || c == Unavailable || c == Timeout
}

// Error is why a platform gave no answer.
type Error struct {
	Class      Class
	RetryAfter time.Duration // what the platform asks to wait; 0 when it does not say
	Cause      error
}

func (e *Error) Error() string {
	text := string(e.Class)
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(" (again after %s)", e.RetryAfter)
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Cause }
