package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// A response is what is sent.
type response struct {
	status  int
	phrase  string // of the status line; "" is that of the status
	headers [][2]string
	body    []byte
	release func() // ends the request's slot; nil: it has none
}

func (r *response) add(name, value string) {
	if value != "" {
		r.headers = append(r.headers, [2]string{name, value})
	}
}

// describe adds what a body is.
func (r *response) describe(p *plan) {
	r.add("Content-Type", p.media.contentType())
	if p.profiled {
		r.add("Content-Profile", p.schema)
	}
}

// respond makes the response to a request of its result.
func (p *plan) respond(r *result) (*response, *Error) {
	var out *response
	var err *Error
	switch p.action {
	case actionRead:
		out, err = p.respondRead(r)
	case actionCall:
		out, err = p.respondCall(r)
	default:
		out = p.respondWrite(r)
	}
	if err != nil {
		return nil, err
	}
	return out, out.override(r)
}

func (p *plan) respondRead(r *result) (*response, *Error) {
	out := &response{}
	if err := p.ranged(out, r); err != nil {
		return nil, err
	}
	location := "/" + p.relation.name
	if p.query.canonical != "" {
		location += "?" + p.query.canonical
	}
	out.add("Content-Location", location)
	out.describe(p)
	out.add("Preference-Applied", p.prefer.applied("count", "handling", "timezone"))
	out.body = r.body
	return out, nil
}

// ranged sets status and Content-Range of a part of a result.
func (p *plan) ranged(out *response, r *result) *Error {
	first := p.read.span.offset
	if p.span.limit == 0 {
		first = 0
	}
	last := first + r.rows - 1
	rows := contentRange(first, last, r.total)
	out.status = http.StatusOK
	switch {
	case r.cut:
		out.status = http.StatusPartialContent
	case r.total == unknownTotal:
	case first > r.total:
		e := outOfRange("An offset of " + strconv.FormatInt(first, 10) + " was requested, but there are only " + strconv.FormatInt(r.total, 10) + " rows.")
		e.headers = [][2]string{{"Content-Range", rows}}
		return e
	case 1+last-first < r.total:
		out.status = http.StatusPartialContent
	}
	out.add("Content-Range", rows)
	return nil
}

func (p *plan) respondCall(r *result) (*response, *Error) {
	out := &response{}
	if err := p.ranged(out, r); err != nil {
		return nil, err
	}
	out.add("Preference-Applied", p.prefer.applied("count", "handling", "timezone", "max-affected"))
	if p.function.void {
		out.status = http.StatusNoContent
		return out, nil
	}
	out.describe(p)
	out.body = r.body
	return out, nil
}

func (p *plan) respondWrite(r *result) *response {
	out := &response{status: http.StatusNoContent}
	total := int64(unknownTotal)
	if p.prefer.counted() {
		total = r.rows
	}
	represented := p.prefer.returns == "representation"
	if represented {
		out.status = http.StatusOK
	}
	var applied string
	switch p.action {
	case actionInsert:
		out.status = http.StatusCreated
		if p.prefer.resolution == "merge-duplicates" && r.inserted <= 0 {
			out.status = http.StatusOK
		}
		out.add("Location", p.location(r))
		out.add("Content-Range", contentRange(1, 0, total))
		if len(p.conflict) == 0 {
			p.prefer.resolution = ""
		}
		applied = p.prefer.applied("resolution", "missing", "return", "count", "handling", "timezone")
	case actionUpdate:
		out.add("Content-Range", contentRange(0, r.rows-1, total))
		applied = p.prefer.applied("missing", "return", "count", "handling", "timezone", "max-affected")
	case actionDelete:
		out.add("Content-Range", contentRange(1, 0, total))
		applied = p.prefer.applied("return", "count", "handling", "timezone", "max-affected")
	case actionUpsert:
		if represented && r.inserted > 0 {
			out.status = http.StatusCreated
		}
		applied = p.prefer.applied("return", "count", "handling", "timezone")
	}
	out.add("Preference-Applied", applied)
	if represented {
		out.describe(p)
		out.body = r.body
	}
	return out
}

// location is where an inserted row is found; "" where that is not known.
func (p *plan) location(r *result) string {
	var key [][2]*string
	if r.location == "" || json.Unmarshal([]byte(r.location), &key) != nil {
		return ""
	}
	var filters []string
	for _, column := range key {
		value := "is.null"
		if column[1] != nil {
			value = "eq." + *column[1]
		}
		filters = append(filters, escape(*column[0])+"="+escape(value))
	}
	if len(filters) == 0 {
		return ""
	}
	return "/" + p.relation.name + "?" + strings.Join(filters, "&")
}

// override lets a function of the database set the status and headers of a response.
func (r *response) override(set *result) *Error {
	if set.headers != "" {
		var list []map[string]string
		if err := json.Unmarshal([]byte(set.headers), &list); err != nil || wrong(list) {
			return refuse(http.StatusInternalServerError, "PGRST111",
				"response.headers guc must be a JSON array composed of objects with a single key and a string value")
		}
		var theirs [][2]string
		for _, header := range list {
			for name, value := range header {
				theirs = append(theirs, [2]string{name, value})
			}
		}
		r.headers = append(slices.DeleteFunc(r.headers, func(ours [2]string) bool {
			return slices.ContainsFunc(theirs, func(their [2]string) bool { return strings.EqualFold(ours[0], their[0]) })
		}), theirs...)
	}
	if set.status != "" {
		status, err := strconv.Atoi(set.status)
		if err != nil || status < 200 || status > 999 {
			return refuse(http.StatusInternalServerError, "PGRST112", "response.status guc must be a valid status code")
		}
		r.status = status
	}
	return nil
}

func wrong(list []map[string]string) bool {
	for _, header := range list {
		if len(header) != 1 {
			return true
		}
	}
	return list == nil
}

// inform is the answer to OPTIONS: what may be done.
func (p *plan) inform() *response {
	methods := []string{"OPTIONS", "GET", "HEAD"}
	switch {
	case p.function != nil && p.function.volatility == "v":
		methods = []string{"OPTIONS", "POST"}
	case p.function != nil:
		methods = append(methods, "POST")
	case p.relation != nil:
		for _, m := range []struct {
			name string
			may  bool
		}{
			{"POST", p.relation.insertable},
			{"PUT", p.relation.insertable && p.relation.updatable && len(p.relation.key) > 0},
			{"PATCH", p.relation.updatable},
			{"DELETE", p.relation.deletable},
		} {
			if m.may {
				methods = append(methods, m.name)
			}
		}
	}
	return &response{status: http.StatusOK, headers: [][2]string{{"Allow", strings.Join(methods, ",")}}}
}

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
