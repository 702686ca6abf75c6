// Package platform is the interface of AI platforms. A platform answers one prompt with a reply, or with an error whose
// class decides whether the prompt is asked again. catalog has a file for each platform.
package platform

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// Platform asks one prompt, once: retries are the caller's. An error of the platform is an *Error. The deadline of ctx
// gives an *Error of class timeout (DefaultTimeout is long enough for an answer), a canceled ctx gives ctx's error.
// Implementations are safe for concurrent use.
type Platform interface {
	Ask(ctx context.Context, question Question) (Reply, error)
}

// DefaultTimeout is how long an answer with searches may take.
const DefaultTimeout = 120 * time.Second

// Question is one run: a prompt put to one model for one region, once.
type Question struct {
	Text     string
	Region   string    // as the prompt names it, for example "us"; "" none
	Language string    // BCP 47, for example "de"; "" none
	Model    string    // requested slug; "" the platform's own choice
	Sample   int64     // 1-based; samples of one prompt are independent runs
	Due      time.Time // when the run was due, which is part of its identity
	Attempt  int       // 1-based number of this request for the run; 0 is unknown
}

// Reply is the platform's part of an answer's record. Its text is the whole answer. A platform that finds none returns
// an Error, or, where the surface is proven to have none, a reply without text whose Finish is event.FinishNotShown.
type Reply struct {
	ServedModel   string // the model that answered, as the platform names it; "" unknown
	Provider      string // slug of who captured the surface; "" the platform itself
	Surface       event.Surface
	Text          string
	Citations     []Citation // in the platform's order
	SearchQueries []string
	Products      []event.Product
	Usage         *event.Usage
	Finish        event.Finish
	Raw           []byte // payload as received; no record has it
	Allowance     Allowance

	// Unknown names the kinds of items that the reader passed over because it does not know them, one for each item.
	Unknown []string
}

// Allowance holds the limits of an account that a response states; 0: not stated.
type Allowance struct {
	RequestsPerMinute int
	TokensPerMinute   int
	ClosedFor         time.Duration // until the account may send requests again
}

// Citation is a URL that the platform lists, with the part of the text that it supports: bytes Start to End of
// Reply.Text, both 0 where they are unknown.
type Citation struct {
	event.Citation
	Start, End int
}

// IsURL reports whether an address has a scheme and a host. Platforms list addresses as pages have them, with a lone %
// in the path, for example, so no more is required of them.
func IsURL(address string) bool {
	scheme, rest, ok := strings.Cut(address, "://")
	isOther := func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }
	return ok && scheme != "" && !strings.ContainsFunc(scheme, isOther) &&
		rest != "" && !strings.ContainsAny(rest[:1], "/?#")
}

// The simulator's slugs: answers under them are marked as simulated.
const (
	Simulator         = "simulator"
	SimulatorShopping = "simulator-shopping"
	SimulatorOverview = "simulator-overview"
)

// Simulated reports whether the simulator made the answers under slug.
func Simulated(slug string) bool {
	return slug == Simulator || slug == SimulatorShopping || slug == SimulatorOverview
}

// Class is the kind of a failure.
type Class string

// The classes. A run is asked again only if the class is Retryable.
const (
	RateLimited     Class = "rate_limited"     // too many questions; again after RetryAfter
	Quota           Class = "quota"            // the account's budget is spent
	Auth            Class = "auth"             // the key is missing, wrong or not allowed this
	Invalid         Class = "invalid"          // the platform refuses the question itself
	Unavailable     Class = "unavailable"      // it does not answer, or with its own failure
	Timeout         Class = "timeout"          // no answer came before the deadline
	ContentFiltered Class = "content_filtered" // it refuses to answer
	ChangedShape    Class = "changed_shape"    // it answered in an unknown form
)

// Classes lists every class.
var Classes = []Class{RateLimited, Quota, Auth, Invalid, Unavailable, Timeout, ContentFiltered, ChangedShape}

// Retryable reports whether the same question may succeed later without a change.
func (c Class) Retryable() bool {
	return c == RateLimited || c == Unavailable || c == Timeout
}

// Refused reports whether the platform refuses the request before it takes tokens.
func (c Class) Refused() bool {
	return c == RateLimited || c == Quota || c == Auth || c == Invalid
}

// Error is the reason why a platform gave no answer.
type Error struct {
	Class      Class
	RetryAfter time.Duration // the pause that the platform asks for; 0 none
	Cause      error
	CostUSD    string // what it cost in spite of the failure, a decimal number; "" nothing
	Allowance  Allowance
	Raw        []byte // payload that holds no answer, as received; nil: none came
}

func (e *Error) Error() string {
	text := string(e.Class)
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(" (again after %.0fs)", math.Ceil(e.RetryAfter.Seconds()))
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Cause }
