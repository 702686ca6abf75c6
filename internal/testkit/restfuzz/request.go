// Package restfuzz draws random requests in the dialect of queryapi/rest, on any schema. Most of them are right.
package restfuzz

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A Request is one to send.
type Request struct {
	Method, Path, Query string
	Headers             [][2]string
	Body                string
}

func (r Request) String() string {
	return fmt.Sprintf("%s %s?%s %q %s", r.Method, r.Path, r.Query, r.Headers, r.Body)
}

// A drawing is one request being drawn.
type drawing struct {
	*rapid.T
	schema *Schema
}

// Request draws a request.
func (s *Schema) Request(t *rapid.T) Request {
	d := drawing{t, s}
	name := d.one(slices.Sorted(maps.Keys(s.Relations))...)
	r := Request{Method: d.one("GET", "GET", "GET", "GET", "HEAD", "POST", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"), Path: "/" + url.PathEscape(name)}
	params := d.params(s.Relations[name])
	if d.rarely(5) {
		call := d.one(slices.Sorted(maps.Keys(s.Functions))...)
		r.Path = "/rpc/" + url.PathEscape(call)
		for _, parameter := range s.Functions[call] {
			params = append(params, parameter+"="+d.value("integer"))
		}
	}
	for i, param := range params {
		key, value, _ := strings.Cut(param, "=")
		params[i] = url.QueryEscape(key) + "=" + url.QueryEscape(value)
	}
	r.Query = strings.Join(params, "&")
	r.Headers = d.headers()
	if slices.Contains([]string{http.MethodPost, http.MethodPatch, http.MethodPut}, r.Method) {
		kind, body := d.body(s.Relations[name])
		r.Headers, r.Body = append(r.Headers, [2]string{"Content-Type", kind}), body
	}
	return r
}

func (d drawing) one(of ...string) string { return rapid.SampledFrom(of).Draw(d.T, "one") }

// rarely is true once in n times.
func (d drawing) rarely(n int) bool { return rapid.IntRange(1, n).Draw(d.T, "rarely") == n }

var wrongNames = []string{"nope", `"a\"b; drop"`, "größe", "pg_catalog", "ctid", "oid", "count", "\x00", "", "'--"}

// column is one of a relation, or rarely something else.
func (d drawing) column(of *Relation) Column {
	if d.rarely(15) || len(of.Columns) == 0 {
		return Column{d.one(wrongNames...), "text"}
	}
	return rapid.SampledFrom(of.Columns).Draw(d.T, "column")
}

// name writes a column's name, with quotes where it needs them.
func (c Column) name() string {
	if strings.ContainsAny(c.Name, ` ".,()-`) && !strings.HasPrefix(c.Name, `"`) {
		return `"` + strings.ReplaceAll(c.Name, `"`, `\"`) + `"`
	}
	return c.Name
}

func (d drawing) value(typ string) string {
	if d.rarely(4) && len(d.schema.Values) > 0 {
		return d.one(d.schema.Values...)
	}
	if d.rarely(8) {
		return d.one("", "null", "'; drop table x", "\x00", "\xff", `"`, "{", "99999999999999999999", "a,b)", "*", strings.Repeat("é", 300))
	}
	switch base, array := strings.CutSuffix(typ, "[]"); {
	case array:
		return "{" + d.value(base) + "}"
	case strings.HasPrefix(typ, "int"), strings.HasPrefix(typ, "big"), strings.HasPrefix(typ, "small"), strings.HasPrefix(typ, "num"), strings.HasPrefix(typ, "double"):
		return d.one("1", "2", "3", "-1", "7")
	case typ == "uuid":
		return "00000000-0000-0000-0000-00000000000" + d.one("1", "2")
	case typ == "boolean":
		return d.one("true", "false")
	case strings.HasPrefix(typ, "json"):
		return d.one(`{"a":1}`, `[1]`, `null`)
	case strings.HasPrefix(typ, "time"), strings.HasPrefix(typ, "date"):
		return "2026-03-01"
	}
	return d.one("a", "b", "Ada", "x")
}

// operation is a filter's value: operator.value.
func (d drawing) operation(typ string) string {
	not := d.one("", "", "not.")
	switch d.one("compare", "compare", "in", "is", "any", "search", "wrong") {
	case "in":
		return not + "in.(" + d.value(typ) + "," + d.value(typ) + ")"
	case "is":
		return not + "is." + d.one("null", "not_null", "true", "unknown", "x")
	case "any":
		return not + d.one("eq", "gt", "like", "match") + d.one("(any)", "(all)") + ".{" + d.value(typ) + "}"
	case "search":
		return not + d.one("fts", "plfts(english)", "wfts", "phfts(nope)") + "." + d.value(typ)
	case "wrong":
		return d.one("eq", "zz.1", "1", "not.", "eq.(", ".")
	}
	return not + d.one("eq", "neq", "lt", "gte", "like", "ilike", "isdistinct", "cs", "ov", "sl", "adj", "imatch") + "." + d.value(typ)
}

func (d drawing) condition(of *Relation, depth int) string {
	if depth < 3 && d.rarely(3) {
		return d.one("and", "or", "not.and") + "(" + d.condition(of, depth+1) + d.one(",", " , ") + d.condition(of, depth+1) + ")"
	}
	c := d.column(of)
	return c.name() + "." + d.operation(c.Type)
}

// params are the parameters of a query string, not yet encoded.
func (d drawing) params(of *Relation) []string {
	var embedded []string // their names, with the relations that they lead to
	params := []string{"select=" + d.selection(of, 0, &embedded)}
	for range rapid.IntRange(0, 4).Draw(d.T, "params") {
		path, at := "", of
		if len(embedded) > 0 && d.rarely(2) {
			name, to, _ := strings.Cut(d.one(embedded...), "=")
			path, at = name+".", d.schema.Relations[to]
		}
		c := d.column(at)
		switch d.one("filter", "filter", "logic", "order", "bound", "presence", "other") {
		case "filter":
			params = append(params, path+c.name()+"="+d.operation(c.Type))
		case "logic":
			params = append(params, path+d.one("and", "or", "not.or")+"=("+d.condition(at, 0)+","+d.condition(at, 0)+")")
		case "order":
			params = append(params, path+"order="+c.name()+d.one("", ".desc", ".asc.nullslast", "->a->>0", ".x")+d.one("", ","+d.column(at).name()))
		case "bound":
			params = append(params, path+d.one("limit", "offset")+"="+d.one("0", "1", "7", "-1", "x", "99999999999999999999"))
		case "presence":
			if path != "" {
				params = append(params, strings.TrimSuffix(path, ".")+"="+d.one("is.null", "not.is.null"))
			}
		case "other":
			params = append(params, d.one("columns", "on_conflict")+"="+c.name()+d.one("", ","+d.column(of).name()))
		}
	}
	return params
}

// selection draws what a request selects, and adds embeds of the relation itself to embedded.
func (d drawing) selection(of *Relation, depth int, embedded *[]string) string {
	var items []string
	for range rapid.IntRange(1, 3).Draw(d.T, "items") {
		if depth < 3 && len(of.Embeds) > 0 && d.rarely(3) {
			said := d.one(slices.Sorted(maps.Keys(of.Embeds))...)
			to := of.Embeds[said]
			name, hint, hinted := strings.Cut(said, "!")
			if hinted && !d.rarely(4) {
				hint = "!" + hint
			}
			if depth == 0 {
				*embedded = append(*embedded, name+"="+to)
			}
			items = append(items, d.one("", "", "...", `"ALIAS \":x":`)+name+hint+d.one("", "!inner", "!left")+"("+d.selection(d.schema.Relations[to], depth+1, embedded)+")")
			continue
		}
		items = append(items, d.one("*", d.one("", "", "ALIAS:")+d.column(of).name()+d.one("", "", "", "", "->a->>0", "::text", ".count()", ".max()::text", "->>0::int", "::nope")))
	}
	if depth > 0 && d.rarely(6) {
		return ""
	}
	return strings.Join(items, d.one(",", ", "))
}

func (d drawing) headers() (headers [][2]string) {
	prefer := []string{"return=representation", "return=headers-only", "resolution=merge-duplicates", "resolution=ignore-duplicates", "missing=default",
		"count=exact", "count=planned", "count=estimated", "handling=strict", "max-affected=2", "timezone=UTC", "nonsense"}
	for range rapid.IntRange(0, 2).Draw(d.T, "preferences") {
		headers = append(headers, [2]string{"Prefer", d.one(prefer...)})
	}
	if d.rarely(3) {
		headers = append(headers, [2]string{"Accept", d.one("text/csv", "application/vnd.pgrst.object+json", "application/vnd.pgrst.array+json;nulls=stripped", "text/html", "*/*;q=0.1")})
	}
	if d.rarely(6) {
		headers = append(headers, [2]string{d.one("Range", "Accept-Profile", "Content-Profile", "X-Odd"), d.one("0-1", "5-", "9-1", "private", "é\x01")})
	}
	return headers
}

// body draws rows of a relation, and says what they are.
func (d drawing) body(of *Relation) (kind, body string) {
	row := map[string]any{}
	var names []string
	for range rapid.IntRange(0, 3).Draw(d.T, "fields") {
		c := d.column(of)
		row[c.Name], names = d.value(c.Type), append(names, c.Name)
	}
	object, _ := json.Marshal(row) // strings, which cannot fail
	switch d.one("object", "object", "array", "csv", "form", "wrong") {
	case "array":
		return "application/json", "[" + string(object) + "," + string(object) + "]"
	case "csv":
		return "text/csv", strings.Join(names, ",") + "\n" + strings.Repeat("NULL,", max(len(names)-1, 0)) + d.value("text")
	case "form":
		return "application/x-www-form-urlencoded", strings.Join(names, "=1&") + "=" + url.QueryEscape(d.value("text"))
	case "wrong":
		return d.one("application/json", "text/plain", "application/octet-stream", "image/png"), d.one("", "[", `[1,{"a":2}]`, `"x"`, "\xff", strings.Repeat("[", 5000))
	}
	return "application/json", string(object)
}
