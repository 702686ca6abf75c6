package clickhouse

import (
	"errors"
	"regexp"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Refused says whether an error of Insert is a refusal: the server is there and has room, but a table or a view of it
// does not take the rows. refuser names that table or view, and is empty where the server does not. All other errors go
// away by themselves, or once the server may be reached again.
func Refused(err error) (refuser string, refused bool) {
	if errors.Is(err, errUnencodable) {
		return "", true
	}
	answer, ok := errors.AsType[*clickhouse.Exception](err)
	if !ok || unavailable[answer.Code] != "" || strings.Contains(answer.Message, noSpace) {
		return "", false
	}
	if view := pushedTo.FindStringSubmatch(answer.Message); view != nil { // the first is the innermost
		return "view " + view[1], true
	}
	return "", true
}

// noSpace is how the server passes an error of the file system on, under codes that mean much else.
const noSpace = "No space left on device"

// pushedTo finds the view in what the server says of an insert that a view refuses.
var pushedTo = regexp.MustCompile("while pushing to view ([^ ,]+)")

// errUnencodable is that the driver cannot encode rows for the columns of their table.
var errUnencodable = errors.New("a value does not fit its column")

// unavailable are the server's error codes, with their names, that do not speak of the rows or of a table.
var unavailable = map[int32]string{
	// we may not
	164: "READONLY",
	192: "UNKNOWN_USER",
	193: "WRONG_PASSWORD",
	194: "REQUIRED_PASSWORD",
	195: "IP_ADDRESS_NOT_ALLOWED",
	291: "DATABASE_ACCESS_DENIED",
	392: "QUERY_IS_PROHIBITED",
	452: "SETTING_CONSTRAINT_VIOLATION",
	497: "ACCESS_DENIED",
	516: "AUTHENTICATION_FAILED",
	// it is busy, or full
	158: "TOO_MANY_ROWS",
	159: "TIMEOUT_EXCEEDED",
	160: "TOO_SLOW",
	173: "CANNOT_ALLOCATE_MEMORY",
	201: "QUOTA_EXCEEDED",
	202: "TOO_MANY_SIMULTANEOUS_QUERIES",
	241: "MEMORY_LIMIT_EXCEEDED",
	243: "NOT_ENOUGH_SPACE",
	252: "TOO_MANY_PARTS",
	290: "LIMIT_EXCEEDED",
	307: "TOO_MANY_BYTES",
	439: "CANNOT_SCHEDULE_TASK",
	473: "DEADLOCK_AVOIDED",
	// it is going, coming, or cannot reach what it needs
	3:   "UNEXPECTED_END_OF_FILE",
	32:  "ATTEMPT_TO_READ_AFTER_EOF",
	33:  "CANNOT_READ_ALL_DATA",
	74:  "CANNOT_READ_FROM_FILE_DESCRIPTOR",
	75:  "CANNOT_WRITE_TO_FILE_DESCRIPTOR",
	76:  "CANNOT_OPEN_FILE",
	77:  "CANNOT_CLOSE_FILE",
	88:  "CANNOT_TRUNCATE_FILE",
	95:  "CANNOT_READ_FROM_SOCKET",
	96:  "CANNOT_WRITE_TO_SOCKET",
	198: "DNS_ERROR",
	203: "NO_FREE_CONNECTION",
	204: "CANNOT_FSYNC",
	209: "SOCKET_TIMEOUT",
	210: "NETWORK_ERROR",
	225: "NO_ZOOKEEPER",
	236: "ABORTED",
	242: "TABLE_IS_READ_ONLY",
	244: "UNEXPECTED_ZOOKEEPER_ERROR",
	279: "ALL_CONNECTION_TRIES_FAILED",
	285: "TOO_FEW_LIVE_REPLICAS",
	286: "UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE",
	319: "UNKNOWN_STATUS_OF_INSERT",
	394: "QUERY_WAS_CANCELLED",
	425: "SYSTEM_ERROR",
	499: "S3_ERROR",
	735: "QUERY_WAS_CANCELLED_BY_CLIENT",
	999: "KEEPER_EXCEPTION",
}
