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

// Preferences are the values of the header Prefer (RFC 7240); "" where it has none.
type preferences struct {
	resolution, missing, returns, count, handling, timezone string

	maxAffected *int64
	invalid     []string
}

// parsePrefer reads the values of the header. The first value of a preference counts.
func parsePrefer(values []string, timezones map[string]bool) preferences {
	var p preferences
	targets := map[string]*string{
		"resolution=merge-duplicates": &p.resolution, "resolution=ignore-duplicates": &p.resolution,
		"missing=default": &p.missing, "missing=null": &p.missing,
		"return=representation": &p.returns, "return=minimal": &p.returns, "return=headers-only": &p.returns,
		"count=exact": &p.count, "count=planned": &p.count, "count=estimated": &p.count,
		"handling=strict": &p.handling, "handling=lenient": &p.handling,
		"tx=commit": new(string), "tx=rollback": new(string), // every request is committed
	}
	limited := false
	for preference := range strings.SplitSeq(strings.Join(values, ","), ",") {
		preference = strings.TrimSpace(preference)
		name, value, hasValue := strings.Cut(preference, "=")
		switch target := targets[preference]; {
		case target != nil:
			*target = cmp.Or(*target, value)
		case name == "timezone" && p.timezone == "" && timezones[value]:
			p.timezone = value
		case name == "max-affected" && hasValue:
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

// check refuses unknown preferences under handling=strict.
func (p preferences) check() error {
	if !p.strict() || len(p.invalid) == 0 {
		return nil
	}
	return badRequest("PGRST122", "Invalid preferences given with handling=strict").
		detailed("Invalid preferences: " + strings.Join(p.invalid, ", "))
}

// checkAffected refuses a result of more rows than max-affected under handling=strict.
func (p preferences) checkAffected(rows int64) error {
	if !p.strict() || p.maxAffected == nil || rows <= *p.maxAffected {
		return nil
	}
	return badRequest("PGRST124", "Query result exceeds max-affected preference constraint").
		detailed("The query affects " + strconv.FormatInt(rows, 10) + " rows")
}

// applied returns the header Preference-Applied: the preferences among names.
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

// counted reports whether the response has the number of all rows, without limit.
func (p preferences) counted() bool { return p.count == "exact" || p.count == "estimated" }

// A mediaType is the format of a body.
type mediaType string

const (
	mediaJSON           mediaType = "application/json"
	mediaStripped       mediaType = "application/vnd.pgrst.array+json;nulls=stripped"
	mediaObject         mediaType = "application/vnd.pgrst.object+json"
	mediaStrippedObject mediaType = "application/vnd.pgrst.object+json;nulls=stripped"
	mediaCSV            mediaType = "text/csv"
	mediaText           mediaType = "text/plain"
	mediaXML            mediaType = "text/xml"
	mediaBytes          mediaType = "application/octet-stream"
	mediaForm           mediaType = "application/x-www-form-urlencoded"
	mediaAny            mediaType = "*/*"
)

func parseMedia(text string) mediaType {
	name, params, _ := strings.Cut(strings.ToLower(text), ";")
	stripped := params == "nulls=stripped"
	switch name {
	case "":
		return mediaAny
	case "application/vnd.pgrst.object", "application/vnd.pgrst.object+json":
		if stripped {
			return mediaStrippedObject
		}
		return mediaObject
	case "application/vnd.pgrst.array", "application/vnd.pgrst.array+json":
		if stripped {
			return mediaStripped
		}
		return mediaJSON
	}
	return mediaType(name)
}

// singular reports whether a body is one row.
func (m mediaType) singular() bool { return m == mediaObject || m == mediaStrippedObject }

func (m mediaType) contentType() string { return string(m) + "; charset=utf-8" }

// parseAccept reads the header: media types by descending q, and of equal q the most specific first.
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
		text, weight, _ := strings.Cut(strings.ReplaceAll(text, " ", ""), ";q=")
		weight, _, _ = strings.Cut(weight, ";")
		q, err := strconv.ParseFloat(weight, 64)
		if err != nil {
			q = 1
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

// negotiate returns the first accepted media type that a response can have.
func negotiate(accepted []mediaType) (mediaType, error) {
	var names []string
	for _, media := range accepted {
		switch media {
		case mediaAny:
			return mediaJSON, nil
		case mediaJSON, mediaObject, mediaStrippedObject, mediaStripped, mediaCSV:
			return media, nil
		}
		names = append(names, string(media))
	}
	return "", refuse(http.StatusNotAcceptable, "PGRST107",
		"None of these media types are available: "+strings.Join(names, ", "))
}

// A rowRange is a part of the rows of a result: from offset on, at most limit.
type rowRange struct {
	offset int64
	limit  int64 // unlimited: all
}

const unlimited = math.MaxInt64

var allRows = rowRange{0, unlimited}

// intersect returns the rows in both ranges. A range that begins after the other one ends has the limit -1.
func (r rowRange) intersect(other rowRange) rowRange {
	end := min(r.end(), other.end())
	offset := max(r.offset, other.offset)
	if end == unlimited {
		return rowRange{offset, unlimited}
	}
	return rowRange{offset, max(end-offset, -1)}
}

// end returns the number after the last row.
func (r rowRange) end() int64 {
	if r.limit == unlimited || r.offset > unlimited-r.limit {
		return unlimited
	}
	return r.offset + r.limit
}

// atMost bounds the number of rows, if rows is not nil.
func (r rowRange) atMost(rows *int64) rowRange {
	if rows != nil {
		r.limit = min(r.limit, *rows)
	}
	return r
}

// integer reads a number, and returns otherwise where text is none.
func integer(text string, otherwise int64) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

var rangeHeader = regexp.MustCompile(`^([0-9]+)-([0-9]*)$`)

// parseRangeHeader reads the header Range: the numbers of the first row and the last one.
func parseRangeHeader(header string) (rowRange, error) {
	parts := rangeHeader.FindStringSubmatch(header)
	if parts == nil {
		return allRows, nil
	}
	first, last := integer(parts[1], unlimited-1), integer(parts[2], unlimited-1)
	if first > last {
		return rowRange{}, outOfRange(
			"The lower boundary must be lower than or equal to the upper boundary in the Range header.")
	}
	return rowRange{first, unlimited}.intersect(rowRange{0, last + 1}), nil
}

func outOfRange(details string) *Error {
	return refuse(http.StatusRequestedRangeNotSatisfiable, "PGRST103", "Requested range not satisfiable").
		detailed(details)
}

// unknownTotal is the total of a result whose rows were not counted.
const unknownTotal = -1

// contentRange writes the header Content-Range: first-last/total.
func contentRange(first, last, total int64) string {
	rows, all := "*", "*"
	if total != 0 && first <= last {
		rows = strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10)
	}
	if total >= 0 {
		all = strconv.FormatInt(total, 10)
	}
	return rows + "/" + all
}
