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

type response struct {
	status  int
	phrase  string // of the status line; "": that of the status
	headers [][2]string
	body    [][]byte // chunks
	release func()   // ends the request's slot; nil: it has none
}

// add adds a header, unless its value is empty.
func (r *response) add(name, value string) {
	if value != "" {
		r.headers = append(r.headers, [2]string{name, value})
	}
}

// setBody sets the body of a result.
func (r *response) setBody(p *plan, result *result) {
	r.add("Content-Type", p.media.contentType())
	if p.profiled {
		r.add("Content-Profile", p.schema)
	}
	r.body = result.body
}

func (p *plan) respond(r *result) (*response, error) {
	out := &response{}
	var err error
	switch p.action {
	case actionRead:
		err = p.respondRead(out, r)
	case actionCall:
		err = p.respondCall(out, r)
	default:
		p.respondWrite(out, r)
	}
	if err != nil {
		return nil, err
	}
	return out, out.override(r)
}

func (p *plan) respondRead(out *response, r *result) error {
	if err := p.setRange(out, r); err != nil {
		return err
	}
	location := "/" + p.relation.name
	if p.query.canonical != "" {
		location += "?" + p.query.canonical
	}
	out.add("Content-Location", location)
	out.add("Preference-Applied", p.prefer.applied("count", "handling", "timezone"))
	out.setBody(p, r)
	return nil
}

func (p *plan) respondCall(out *response, r *result) error {
	if err := p.setRange(out, r); err != nil {
		return err
	}
	out.add("Preference-Applied", p.prefer.applied("count", "handling", "timezone", "max-affected"))
	if p.function.void {
		out.status = http.StatusNoContent
		return nil
	}
	out.setBody(p, r)
	return nil
}

// setRange sets status and Content-Range of a part of a result.
func (p *plan) setRange(out *response, r *result) error {
	first := p.read.rows.offset
	if p.rows.limit == 0 {
		first = 0
	}
	rows := contentRange(first, first+r.rows-1, r.total)
	out.status = http.StatusOK
	switch {
	case r.cut:
		out.status = http.StatusPartialContent
	case r.total == unknownTotal:
	case first > r.total:
		return outOfRange("An offset of "+strconv.FormatInt(first, 10)+" was requested, but there are only "+
			strconv.FormatInt(r.total, 10)+" rows.").withHeader("Content-Range", rows)
	case r.rows < r.total:
		out.status = http.StatusPartialContent
	}
	out.add("Content-Range", rows)
	return nil
}

func (p *plan) respondWrite(out *response, r *result) {
	total := int64(unknownTotal)
	if p.prefer.counted() {
		total = r.rows
	}
	hasBody := p.prefer.returns == "representation"
	out.status = http.StatusNoContent
	if hasBody {
		out.status = http.StatusOK
	}
	applied := []string{"return", "count", "handling", "timezone"}
	switch p.action {
	case actionInsert:
		out.status = http.StatusCreated
		if p.prefer.resolution == "merge-duplicates" && r.inserted <= 0 {
			out.status = http.StatusOK
		}
		out.add("Location", p.location(r))
		out.add("Content-Range", contentRange(1, 0, total))
		applied = append(applied, "missing")
		if len(p.conflict) > 0 {
			applied = append(applied, "resolution")
		}
	case actionUpdate:
		out.add("Content-Range", contentRange(0, r.rows-1, total))
		applied = append(applied, "missing", "max-affected")
	case actionDelete:
		out.add("Content-Range", contentRange(1, 0, total))
		applied = append(applied, "max-affected")
	case actionUpsert:
		if hasBody && r.inserted > 0 {
			out.status = http.StatusCreated
		}
	}
	out.add("Preference-Applied", p.prefer.applied(applied...))
	if hasBody {
		out.setBody(p, r)
	}
}

// location returns the address of an inserted row; "" where it is not known.
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

// override sets the status and headers that a function of the database has set.
func (r *response) override(result *result) error {
	if result.headers != "" {
		var list []map[string]string
		err := json.Unmarshal([]byte(result.headers), &list)
		notSingle := func(h map[string]string) bool { return len(h) != 1 }
		if err != nil || list == nil || slices.ContainsFunc(list, notSingle) {
			return refuse(http.StatusInternalServerError, "PGRST111",
				"response.headers guc must be a JSON array composed of objects with a single key and a string value")
		}
		var set [][2]string
		for _, header := range list {
			for name, value := range header {
				set = append(set, [2]string{name, value})
			}
		}
		r.headers = append(slices.DeleteFunc(r.headers, func(ours [2]string) bool {
			return slices.ContainsFunc(set, func(h [2]string) bool { return strings.EqualFold(ours[0], h[0]) })
		}), set...)
	}
	if result.status != "" {
		status, err := strconv.Atoi(result.status)
		if err != nil || status < 200 || status > 999 {
			return refuse(http.StatusInternalServerError, "PGRST112", "response.status guc must be a valid status code")
		}
		r.status = status
	}
	return nil
}

// respondOptions answers OPTIONS: the methods that a relation or function allows.
func (p *plan) respondOptions() *response {
	methods := "OPTIONS,GET,HEAD"
	switch {
	case p.function != nil && p.function.volatility == "v":
		methods = "OPTIONS,POST"
	case p.function != nil:
		methods += ",POST"
	case p.relation != nil:
		for _, m := range []struct {
			name    string
			allowed bool
		}{
			{"POST", p.relation.insertable},
			{"PUT", p.relation.insertable && p.relation.updatable && len(p.relation.key) > 0},
			{"PATCH", p.relation.updatable},
			{"DELETE", p.relation.deletable},
		} {
			if m.allowed {
				methods += "," + m.name
			}
		}
	}
	return &response{status: http.StatusOK, headers: [][2]string{{"Allow", methods}}}
}

// A bodyText collects rows to a body, up to a number of rows and bytes.
type bodyText struct {
	chunks    [][]byte // full ones
	chunk     []byte   // the last one
	size      int64
	rows      int64
	maxRows   int64 // 0: no bound
	maxBytes  int64 // 0: no bound
	separator string
	array     bool // of rows; else the body is the first one
	csv       bool
	header    bool // the next row has the names of the columns
	strict    bool // also the first row has at most maxBytes
}

func (p *plan) newBody() *bodyText {
	csv := p.media == mediaCSV
	b := &bodyText{
		maxBytes: p.maxBytes, separator: ", \n ", csv: csv, header: csv, strict: p.action.writes() || p.lists > 0,
		array: csv || !p.media.singular() && (p.function == nil || p.function.set),
	}
	if p.maxBytes > 0 && p.maxRows != nil && !p.action.writes() {
		b.maxRows = *p.maxRows
	}
	switch {
	case csv:
		b.separator = "\n"
	case p.media == mediaStripped:
		b.separator = ","
	case p.scalars() && !strings.HasPrefix(p.function.result.name, "_"): // the name of an array begins so
		b.separator = ", "
	}
	return b
}

// add appends a row, and reports false where it does not fit.
func (b *bodyText) add(row []byte) bool {
	if b.header {
		b.write(row)
		b.write([]byte{'\n'})
		b.header = false
		return true
	}
	if b.maxRows > 0 && b.rows == b.maxRows {
		return false
	}
	size := b.size + int64(len(b.separator)+len(row)+1)
	if b.maxBytes > 0 && size > b.maxBytes && (b.rows > 0 || b.strict) {
		return false
	}
	switch b.rows++; {
	case b.rows > 1 && !b.array:
		return true
	case b.rows > 1:
		b.write([]byte(b.separator))
	case b.array && !b.csv:
		b.write([]byte{'['})
	}
	b.write(row)
	return true
}

// chunkSize bounds the chunks of a body. As one slice that grows, a body would leave five times its size to the garbage
// collector.
const chunkSize = 256 << 10

func (b *bodyText) write(text []byte) {
	if len(b.chunk) > 0 && len(b.chunk)+len(text) > chunkSize {
		b.chunks = append(b.chunks, b.chunk)
		b.chunk = make([]byte, 0, max(chunkSize, len(text)))
	}
	b.chunk = append(b.chunk, text...)
	b.size += int64(len(text))
}

func (b *bodyText) end() [][]byte {
	switch {
	case b.csv:
	case !b.array && b.rows == 0:
		b.chunk = []byte("null")
	case !b.array:
		b.chunk = bytes.TrimSpace(b.chunk) // the only row, and the only chunk
	case b.rows == 0:
		b.chunk = emptyArray
	default:
		b.chunk = append(b.chunk, ']')
	}
	return append(b.chunks, b.chunk)
}

const programLimitExceeded = "54000"

// isTooLarge reports whether PostgreSQL ended a statement because its result, or a list that it embeds, is too large.
func isTooLarge(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pgErr.Code == programLimitExceeded
}

// responseTooLarge refuses a body that cannot be cut.
func (p *plan) responseTooLarge() error {
	hint := "Select fewer columns, or fewer rows of what is embedded: child.limit=10."
	if p.action.writes() {
		hint = "Send Prefer: return=minimal, or select fewer columns. Nothing was written."
	}
	return badRequest(programLimitExceeded, "The response would be larger than this server sends").hinted(hint)
}
