package clickhouse

import (
	"errors"
	"regexp"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
)

// Refused reports whether an error of Insert is a refusal: the server runs and has room, but a table or a view of it
// does not take the rows. refuser names the view; it is empty for a table. All other errors pass by themselves, or once
// the server can be reached again.
func Refused(err error) (refuser string, refused bool) {
	if errors.Is(err, errUnencodable) {
		return "", true
	}
	exception, ok := errors.AsType[*clickhouse.Exception](err)
	if !ok || strings.Contains(exception.Message, noSpace) || HasCode(err, unavailable...) {
		return "", false
	}
	if view := pushingTo.FindStringSubmatch(exception.Message); view != nil { // the first is the innermost
		return "view " + view[1], true
	}
	return "", true
}

// noSpace marks an error of the file system, which the server reports under many codes.
const noSpace = "No space left on device"

// pushingTo finds the view that refuses an insert in the server's message.
var pushingTo = regexp.MustCompile("while pushing to view ([^ ,]+)")

// errUnencodable means that the driver cannot encode rows for the columns of their table.
var errUnencodable = errors.New("a value does not fit its column")

// unavailable has the server's error codes that concern neither the rows nor a table.
var unavailable = []proto.Error{
	// access
	proto.ErrReadonly, proto.ErrUnknownUser, proto.ErrWrongPassword, proto.ErrRequiredPassword,
	proto.ErrIPAddressNotAllowed, proto.ErrDatabaseAccessDenied, proto.ErrQueryIsProhibited,
	proto.ErrSettingConstraintViolation, proto.ErrAccessDenied, proto.ErrAuthenticationFailed,
	// load and space
	proto.ErrTooManyRows, proto.ErrTimeoutExceeded, proto.ErrTooSlow, proto.ErrCannotAllocateMemory,
	proto.ErrQuotaExceeded, proto.ErrTooManySimultaneousQueries, proto.ErrMemoryLimitExceeded,
	proto.ErrNotEnoughSpace, proto.ErrTooManyParts, proto.ErrLimitExceeded, proto.ErrTooManyBytes,
	proto.ErrCannotScheduleTask, proto.ErrDeadlockAvoided,
	// starts, stops, network and storage
	proto.ErrUnexpectedEndOfFile, proto.ErrAttemptToReadAfterEOF, proto.ErrCannotReadAllData,
	proto.ErrCannotReadFromFileDescriptor, proto.ErrCannotWriteToFileDescriptor, proto.ErrCannotOpenFile,
	proto.ErrCannotCloseFile, proto.ErrCannotTruncateFile, proto.ErrCannotReadFromSocket,
	proto.ErrCannotWriteToSocket, proto.ErrDNSError, proto.ErrNoFreeConnection, proto.ErrCannotFsync,
	proto.ErrSocketTimeout, proto.ErrNetworkError, proto.ErrNoZookeeper, proto.ErrAborted,
	proto.ErrTableIsReadOnly, proto.ErrUnexpectedZookeeperError, proto.ErrAllConnectionTriesFailed,
	proto.ErrTooFewLiveReplicas, proto.ErrUnsatisfiedQuorumForPreviousWrite, proto.ErrUnknownStatusOfInsert,
	proto.ErrQueryWasCancelled, proto.ErrSystemError, proto.ErrS3Error, proto.ErrQueryWasCancelledByClient,
	proto.ErrKeeperException, proto.ErrReplicaIsNotInQuorum,
}
