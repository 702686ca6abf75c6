package rest

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// A span is a part of the rows of a result: from offset on, at most limit.
type span struct {
	offset int64
	limit  int64 // unlimited: all
}

const unlimited = math.MaxInt64

var everything = span{0, unlimited}

// within is the part of s that is in other too; of both the last row counts, not the number of rows.
func (s span) within(other span) span {
	end := min(s.end(), other.end())
	offset := max(s.offset, other.offset)
	if end == unlimited {
		return span{offset, unlimited}
	}
	return span{offset, max(end-offset, -1)}
}

// end is the number behind the last row.
func (s span) end() int64 {
	if s.limit == unlimited || s.offset > unlimited-s.limit {
		return unlimited
	}
	return s.offset + s.limit
}

// capped is s with at most rows rows; nil is without a bound.
func (s span) capped(rows *int64) span {
	if rows != nil {
		s.limit = min(s.limit, *rows)
	}
	return s
}

// spanOf is the span of a limit and an offset; what is no number does not count, nor does a negative offset.
func spanOf(limit, offset string) span {
	s := everything
	if n, err := strconv.ParseInt(strings.TrimSpace(limit), 10, 64); err == nil {
		s.limit = n
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(offset), 10, 64); err == nil && n > 0 {
		s.offset = n
	}
	return s
}

var rangeHeader = regexp.MustCompile(`^([0-9]+)-([0-9]*)$`)

// parseRange reads the header Range: the numbers of the first row and the last one.
func parseRange(header string) (span, *Error) {
	parts := rangeHeader.FindStringSubmatch(header)
	if parts == nil {
		return everything, nil
	}
	first, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		first = unlimited - 1
	}
	last, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		last = unlimited - 1
	}
	if first > last {
		return span{}, outOfRange("The lower boundary must be lower than or equal to the upper boundary in the Range header.")
	}
	return span{first, unlimited}.within(span{0, last + 1}), nil
}

func outOfRange(details string) *Error {
	return refuse(http.StatusRequestedRangeNotSatisfiable, "PGRST103", "Requested range not satisfiable").detailed(details)
}

// contentRange is the header of that name: the numbers of the first row and the last one, and how many there are; a
// negative total is unknown.
func contentRange(first, last, total int64) string {
	rows, of := "*", "*"
	if total != 0 && first <= last {
		rows = strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10)
	}
	if total >= 0 {
		of = strconv.FormatInt(total, 10)
	}
	return rows + "/" + of
}

// unknownTotal is the total of a result that was not counted.
const unknownTotal = -1
