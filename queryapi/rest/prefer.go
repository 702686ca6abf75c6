package rest

import (
	"net/http"
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
