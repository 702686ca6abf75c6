package clickhouse

import (
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Blame says whether it may be for its rows that an insert failed.
type Blame int

const (
	// NotRows: the server is away, busy, full, or set up wrongly. The same rows go
	// in once it is well.
	NotRows Blame = iota
	// PerhapsRows: an error that nobody has thought of. Where it stays, look at the
	// rows.
	PerhapsRows
	// Rows: some row is one that the tables, their views or the driver do not take.
	Rows
)

// errUnencodable is that rows do not fit into the columns that they are for.
var errUnencodable = errors.New("a value does not fit its column")

// BlameOf reads it from an error of Insert. What is no answer of the server is not
// for the rows.
func BlameOf(err error) Blame {
	if errors.Is(err, errUnencodable) {
		return Rows
	}
	refused, ok := errors.AsType[*clickhouse.Exception](err)
	if !ok {
		return NotRows
	}
	if _, ok := rowsFault[refused.Code]; ok {
		return Rows
	}
	if _, ok := othersFault[refused.Code]; ok {
		return NotRows
	}
	return PerhapsRows
}

// rowsFault are errors that the values of a row bring about, in a view, a
// constraint or a column.
var rowsFault = map[int32]string{
	6:   "CANNOT_PARSE_TEXT",
	25:  "CANNOT_PARSE_ESCAPE_SEQUENCE",
	26:  "CANNOT_PARSE_QUOTED_STRING",
	27:  "CANNOT_PARSE_INPUT_ASSERTION_FAILED",
	38:  "CANNOT_PARSE_DATE",
	41:  "CANNOT_PARSE_DATETIME",
	69:  "ARGUMENT_OUT_OF_BOUND",
	70:  "CANNOT_CONVERT_TYPE",
	72:  "CANNOT_PARSE_NUMBER",
	117: "INCORRECT_DATA",
	128: "TOO_LARGE_ARRAY_SIZE",
	131: "TOO_LARGE_STRING_SIZE",
	153: "ILLEGAL_DIVISION",
	190: "SIZES_OF_ARRAYS_DONT_MATCH",
	321: "VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE",
	349: "CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN",
	376: "CANNOT_PARSE_UUID",
	395: "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO",
	407: "DECIMAL_OVERFLOW",
	427: "CANNOT_COMPILE_REGEXP",
	441: "CANNOT_PARSE_DOMAIN_VALUE_FROM_STRING",
	467: "CANNOT_PARSE_BOOL",
	469: "VIOLATED_CONSTRAINT",
	675: "CANNOT_PARSE_IPV4",
	676: "CANNOT_PARSE_IPV6",
	691: "UNKNOWN_ELEMENT_OF_ENUM",
}

// othersFault are errors that no row brings about.
var othersFault = map[int32]string{
	// the schema is another, or is being changed
	10:  "NOT_FOUND_COLUMN_IN_BLOCK",
	16:  "NO_SUCH_COLUMN_IN_TABLE",
	46:  "UNKNOWN_FUNCTION",
	47:  "UNKNOWN_IDENTIFIER",
	48:  "NOT_IMPLEMENTED",
	60:  "UNKNOWN_TABLE",
	62:  "SYNTAX_ERROR",
	81:  "UNKNOWN_DATABASE",
	115: "UNKNOWN_SETTING",
	122: "INCOMPATIBLE_COLUMNS",
	218: "TABLE_IS_DROPPED",
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
