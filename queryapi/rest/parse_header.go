package rest

import (
	"cmp"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Preferences are what the header Prefer asks for (RFC 7240); "" where it asks for nothing.
type preferences struct {
	resolution, missing, returns, count, handling, timezone string

	maxAffected *int64
	invalid     []string
}

// parsePrefer reads the values of the header. Of those for one thing the first counts.
func parsePrefer(values []string, timezones map[string]bool) preferences {
	var p preferences
	known := map[string]*string{
		"resolution=merge-duplicates": &p.resolution, "resolution=ignore-duplicates": &p.resolution,
		"missing=default": &p.missing, "missing=null": &p.missing,
		"return=representation": &p.returns, "return=minimal": &p.returns, "return=headers-only": &p.returns,
		"count=exact": &p.count, "count=planned": &p.count, "count=estimated": &p.count,
		"handling=strict": &p.handling, "handling=lenient": &p.handling,
		"tx=commit": new(string), "tx=rollback": new(string), // every request is committed
	}
	zoned, limited := false, false
	for preference := range strings.SplitSeq(strings.Join(values, ","), ",") {
		preference = strings.TrimSpace(preference)
		name, value, _ := strings.Cut(preference, "=")
		switch into := known[preference]; {
		case into != nil && *into == "":
			*into = value
		case into != nil:
		case name == "timezone" && !zoned && timezones[value]:
			p.timezone, zoned = value, true
		case name == "max-affected" && strings.Contains(preference, "="):
			if n, err := strconv.ParseInt(value, 10, 64); err == nil && !limited {
				p.maxAffected = &n
			}
			limited = true
		case preference != "":
			p.invalid = append(p.invalid, preference)
		}
	}
	return p
}

func (p preferences) strict() bool { return p.handling == "strict" }

// check refuses preferences that are not known where the caller wants that.
func (p preferences) check() *Error {
	if !p.strict() || len(p.invalid) == 0 {
		return nil
	}
	e := refuse(statusBadRequest, "PGRST122", "Invalid preferences given with handling=strict")
	return e.detailed("Invalid preferences: " + strings.Join(p.invalid, ", "))
}

// checkAffected refuses a result of more rows than the caller wants to change.
func (p preferences) checkAffected(rows int64) *Error {
	if !p.strict() || p.maxAffected == nil || rows <= *p.maxAffected {
		return nil
	}
	e := refuse(statusBadRequest, "PGRST124", "Query result exceeds max-affected preference constraint")
	return e.detailed("The query affects " + strconv.FormatInt(rows, 10) + " rows")
}

// applied is the header Preference-Applied: of the preferences those among names.
func (p preferences) applied(names ...string) string {
	limit := ""
	if p.strict() && p.maxAffected != nil {
		limit = strconv.FormatInt(*p.maxAffected, 10)
	}
	var list []string
	for _, preference := range [][2]string{
		{"resolution", p.resolution}, {"missing", p.missing}, {"return", p.returns}, {"count", p.count},
		{"handling", p.handling}, {"timezone", p.timezone}, {"max-affected", limit},
	} {
		if preference[1] != "" && slices.Contains(names, preference[0]) {
			list = append(list, preference[0]+"="+preference[1])
		}
	}
	return strings.Join(list, ", ")
}

// counted is whether the rows without limit are to be counted.
func (p preferences) counted() bool { return p.count == "exact" || p.count == "estimated" }

// singular is the refusal of a result that is not one row.
func singular(rows int64) *Error {
	e := refuse(http.StatusNotAcceptable, "PGRST116", "Cannot coerce the result to a single JSON object")
	return e.detailed("The result contains " + strconv.FormatInt(rows, 10) + " rows")
}

// A mediaType is the form of a body.
type mediaType string

const (
	mediaJSON       mediaType = "application/json"
	mediaStripped   mediaType = "application/vnd.pgrst.array+json;nulls=stripped"
	mediaObject     mediaType = "application/vnd.pgrst.object+json"
	mediaBareObject mediaType = "application/vnd.pgrst.object+json;nulls=stripped"
	mediaCSV        mediaType = "text/csv"
	mediaText       mediaType = "text/plain"
	mediaXML        mediaType = "text/xml"
	mediaBytes      mediaType = "application/octet-stream"
	mediaForm       mediaType = "application/x-www-form-urlencoded"
	mediaAny        mediaType = "*/*"
)

// parseMedia reads one media type with its parameters.
func parseMedia(text string) mediaType {
	name, params, _ := strings.Cut(strings.ToLower(text), ";")
	switch name {
	case "":
		return mediaAny
	case "application/vnd.pgrst.object", "application/vnd.pgrst.object+json":
		if params == "nulls=stripped" {
			return mediaBareObject
		}
		return mediaObject
	case "application/vnd.pgrst.array", "application/vnd.pgrst.array+json":
		if params == "nulls=stripped" {
			return mediaStripped
		}
		return mediaJSON
	}
	return mediaType(name)
}

// single is whether a body is one row.
func (m mediaType) single() bool { return m == mediaObject || m == mediaBareObject }

func (m mediaType) contentType() string { return string(m) + "; charset=utf-8" }

// parseAccept reads the header: media types with the highest q first, and among those the most specific ones.
func parseAccept(header string) []mediaType {
	if header == "" {
		return []mediaType{mediaAny}
	}
	type weighted struct {
		media    mediaType
		q        float64
		specific int
	}
	var list []weighted
	for text := range strings.SplitSeq(header, ",") {
		text, weight, found := strings.Cut(strings.ReplaceAll(text, " ", ""), ";q=")
		q := 1.0
		if weight, _, _ = strings.Cut(weight, ";"); found {
			if parsed, err := strconv.ParseFloat(weight, 64); err == nil {
				q = parsed
			}
		}
		list = append(list, weighted{parseMedia(text), q, strings.Count(text, ";") - strings.Count(text, "*")})
	}
	slices.SortStableFunc(list, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(b.q, a.q), cmp.Compare(b.specific, a.specific))
	})
	var accepted []mediaType
	for _, w := range list {
		accepted = append(accepted, w.media)
	}
	return accepted
}

// negotiate is the first of the accepted media types that can be made.
func negotiate(accepted []mediaType) (mediaType, *Error) {
	for _, media := range accepted {
		switch media {
		case mediaAny:
			return mediaJSON, nil
		case mediaJSON, mediaObject, mediaBareObject, mediaStripped, mediaCSV:
			return media, nil
		}
	}
	var names []string
	for _, media := range accepted {
		names = append(names, string(media))
	}
	return "", refuse(http.StatusNotAcceptable, "PGRST107", "None of these media types are available: "+strings.Join(names, ", "))
}

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
