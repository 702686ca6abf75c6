package rest

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// A bodyText is a body that is made of rows, up to a number of rows and bytes.
type bodyText struct {
	text      []byte
	rows      int64
	maxRows   int64 // 0: no bound
	maxBytes  int64 // 0: no bound
	separator string
	array     bool // of rows; else the body is the first one
	csv       bool
	header    bool // the next row has the names of the columns
	strict    bool // the first row may not have more than maxBytes
}

// newBody returns the empty body of a plan.
func (p *plan) newBody() *bodyText {
	b := &bodyText{maxBytes: p.maxBytes, array: true, csv: p.media == mediaCSV, strict: p.action.writes() || p.lists > 0}
	b.header = b.csv
	if p.maxBytes > 0 && p.maxRows != nil && !p.action.writes() {
		b.maxRows = *p.maxRows
	}
	if p.media.single() || p.function != nil && !p.function.set {
		b.array = b.csv
	}
	switch {
	case b.csv:
		b.separator = "\n"
	case p.media == mediaStripped:
		b.separator = ","
	case p.scalars() && !strings.HasPrefix(p.function.result.name, "_"): // of PostgreSQL's arrays the names begin so
		b.separator = ", "
	default:
		b.separator = ", \n "
	}
	return b
}

// add appends a row, and reports false where it does not fit.
func (b *bodyText) add(row []byte) bool {
	if b.header {
		b.text, b.header = append(append(b.text, row...), '\n'), false
		return true
	}
	if b.maxRows > 0 && b.rows == b.maxRows {
		return false
	}
	if b.maxBytes > 0 && (b.rows > 0 || b.strict) && int64(len(b.text)+len(b.separator)+len(row)+1) > b.maxBytes {
		return false
	}
	switch b.rows++; {
	case b.rows > 1 && !b.array:
		return true
	case b.rows > 1:
		b.text = append(b.text, b.separator...)
	case b.array && !b.csv:
		b.text = append(b.text, '[')
	}
	b.text = append(b.text, row...)
	return true
}

// end returns the body.
func (b *bodyText) end() []byte {
	switch {
	case b.csv:
		return b.text
	case !b.array && b.rows == 0:
		return []byte("null")
	case !b.array:
		return bytes.TrimSpace(b.text)
	case b.rows == 0:
		return emptyArray
	}
	return append(b.text, ']')
}

// isTooLarge reports whether PostgreSQL ended a statement because its result, or a list that it embeds, is too large.
func isTooLarge(err error) bool {
	said, ok := errors.AsType[*pgconn.PgError](err)
	return ok && said.Code == programLimitExceeded
}

const programLimitExceeded = "54000"

// tooLarge refuses a body that cannot be cut.
func (p *plan) tooLarge() *Error {
	hint := "Select fewer columns, or fewer rows of what is embedded: child.limit=10."
	if p.action.writes() {
		hint = "Send Prefer: return=minimal, or select fewer columns. Nothing was written."
	}
	return refuse(http.StatusBadRequest, programLimitExceeded, "The response would be larger than this server sends").hinted(hint)
}
