// Package fault has the named points at which a test may kill a process: between an append and its acknowledgement,
// between a plan, an insert and a commit. A kill at a random moment seldom finds them.
//
// The program passes its points and never arms one: a test does, in a process of its own.
package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Variable names the environment variable from which a test's process reads what to arm.
const Variable = "ANSWERSCOPE_TEST_FAULT"

// A Point is a place in the program, named for the step that has just ended.
type Point string

// The points, in the order in which a record passes them.
const (
	Produced  Point = "produced"  // a broker has acknowledged records, and no caller knows yet
	Planned   Point = "planned"   // a batch is planned, and nothing of it was inserted
	Inserted  Point = "inserted"  // its rows and dead letters are inserted, in some tables perhaps
	Landed    Point = "landed"    // it is inserted in all tables, and not committed
	Committed Point = "committed" // it is committed, and the next one is not planned
	Requested Point = "requested" // a page of kept answers is appended again, and the progress not saved
)

// The points of a record that is spilled to the spool.
const (
	Begun   Point = "begun"   // a file of the spool is made, and its directory does not keep it yet
	Torn    Point = "torn"    // the head of an entry is written, and its body is not
	Written Point = "written" // an entry is written, and not safe on disk
	Kept    Point = "kept"    // it is safe, and its append is not answered
	Removed Point = "removed" // it is removed, since a broker has it, and its file is still there
)

// SpoolPoints are all of these. A process without a spool, or whose broker is never away, passes none of them.
var SpoolPoints = []Point{Begun, Torn, Written, Kept, Removed}

// The points of a tracking run.
const (
	Claimed  Point = "claimed"  // a worker has taken the job up
	Asked    Point = "asked"    // the platform has answered a request, and nothing is stored
	Answered Point = "answered" // the answer is stored, and the log lacks it
	Appended Point = "appended" // the log has it, and it is still stored
	Marked   Point = "marked"   // it is stored no more
)

// TrackingPoints are all of these. A process that tracks nothing passes none of them.
var TrackingPoints = []Point{Claimed, Asked, Answered, Appended, Marked}

// The points between these, which not every run passes.
const (
	Accepted Point = "accepted" // the job of a capture provider is stored
	Failed   Point = "failed"   // a failure is stored, and the run not asked again
	Shared   Point = "shared"   // other jobs with the same question have the answer, and the run has none
)

// The points of a delivery of an event.
const (
	Leased   Point = "leased"   // a process has leased it, and sent nothing
	Sent     Point = "sent"     // the receiver has answered, and nothing is stored
	Recorded Point = "recorded" // the end is stored
)

// DeliveryPoints are all of these. A process without deliveries passes none of them.
var DeliveryPoints = []Point{Leased, Sent, Recorded}

// Points are all others.
var Points = []Point{Produced, Planned, Inserted, Landed, Committed, Requested}

// armed is nil in the program.
var armed atomic.Pointer[trap]

type trap struct {
	at   Point
	left atomic.Int64
}

// Pass kills the process if a test has armed this pass of p.
func Pass(p Point) {
	if t := armed.Load(); t != nil && t.at == p && t.left.Add(-1) == 0 {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {} // the signal comes at the next scheduling
	}
}

// Arm makes the n-th pass of a point the last of this process; text is point:n.
func Arm(text string) error {
	name, times, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(times, 10, 64)
	all := slices.Concat(Points, SpoolPoints, TrackingPoints, DeliveryPoints, []Point{Accepted, Failed, Shared})
	if err != nil || n < 1 || !slices.Contains(all, Point(name)) {
		return fmt.Errorf("fault %q: want one of %s, a colon and which pass of it, such as %s:1", text, Points, Landed)
	}
	t := &trap{at: Point(name)}
	t.left.Store(n)
	armed.Store(t)
	return nil
}
