package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// An action is what a request does.
type action int

const (
	actionRead action = iota
	actionInsert
	actionUpdate
	actionUpsert
	actionDelete
	actionCall
	actionInfo     // of a relation
	actionInfoCall // of a function
	actionInfoRoot
)

func (a action) writes() bool {
	return a == actionInsert || a == actionUpdate || a == actionUpsert || a == actionDelete
}

// incoming is a request as it came.
type incoming struct {
	method, path, query string // the path without the prefix, still escaped
	headers             [][2]string
	body                []byte
}

// header is the first value of a header.
func (in incoming) header(name string) string {
	for _, h := range in.headers {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

func (in incoming) headersOf(name string) (values []string) {
	for _, h := range in.headers {
		if strings.EqualFold(h[0], name) {
			values = append(values, h[1])
		}
	}
	return values
}

// A request is one that has been read. It names things that may not exist.
type request struct {
	incoming
	action   action
	name     string // of the relation or function
	schema   string
	profiled bool // the answer names the schema
	query    query
	span     span
	prefer   preferences
	accept   []mediaType
	content  mediaType
	payload  payload
}

// safe is whether a call has its arguments in the query string.
func (r *request) safe() bool { return r.method != http.MethodPost }

// A query is what the query string says.
type query struct {
	canonical  string // parameters sorted by name
	selection  selection
	filters    []placed[filter]
	keys       []string // names of the parameters that filter
	conditions []placed[condition]
	orders     []placed[[]orderTerm]
	spans      []placed[span]
	arguments  []param  // of a function
	columns    []string // nil: not given
	onConflict []string // nil: not given
}

// placed is something for an embed, which the path names; [] is the relation itself.
type placed[T any] struct {
	path []string
	what T
}

// parse reads a request.
func parse(in incoming, cfg Config, timezones map[string]bool) (*request, *Error) {
	r := &request{incoming: in}
	var err *Error
	segments := strings.Split(strings.TrimPrefix(in.path, "/"), "/")
	for i := range segments {
		segments[i] = unescape(segments[i], false)
	}
	if err = r.parseSchema(cfg, segments); err != nil {
		return nil, err
	}
	if err = r.parseAction(segments); err != nil {
		return nil, err
	}
	if r.query, err = parseQuery(in.query, r.action == actionCall && r.safe()); err != nil {
		return nil, err
	}
	if err = r.parseSpan(); err != nil {
		return nil, err
	}
	r.accept = parseAccept(in.header("Accept"))
	r.content = parseMedia(cmp.Or(in.header("Content-Type"), string(mediaJSON)))
	r.prefer = parsePrefer(in.headersOf("Prefer"), timezones)
	switch r.action {
	case actionInsert, actionUpdate:
		r.payload, err = parseBody(in.body, r.content, r.query.columns)
	case actionUpsert:
		r.payload, err = parseBody(in.body, r.content, nil)
	case actionCall:
		if !r.safe() {
			r.payload, err = parseArguments(in.body, r.content, r.query.columns)
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// parseSchema finds the schema that the profile headers name.
func (r *request) parseSchema(cfg Config, segments []string) *Error {
	if !slices.Contains([]int{1, 2}, len(segments)) || len(segments) == 2 && segments[0] != "rpc" {
		return refuse(http.StatusNotFound, "PGRST125", "Invalid path specified in request URL")
	}
	r.schema, r.profiled = cfg.Schemas[0], len(cfg.Schemas) > 1
	header := "Accept-Profile"
	if slices.Contains([]string{http.MethodDelete, http.MethodPatch, http.MethodPost, http.MethodPut}, r.method) {
		header = "Content-Profile"
	}
	profiles := r.headersOf(header)
	if len(profiles) == 0 {
		return nil
	}
	r.schema, r.profiled = profiles[0], true
	if !slices.Contains(cfg.Schemas, r.schema) {
		return refuse(http.StatusNotAcceptable, "PGRST106", "Invalid schema: "+r.schema).
			hinted("Only the following schemas are exposed: " + strings.Join(cfg.Schemas, ", "))
	}
	return nil
}

var (
	relationActions = map[string]action{
		http.MethodGet: actionRead, http.MethodHead: actionRead, http.MethodPost: actionInsert, http.MethodPatch: actionUpdate,
		http.MethodPut: actionUpsert, http.MethodDelete: actionDelete, http.MethodOptions: actionInfo,
	}
	callActions = map[string]action{
		http.MethodGet: actionCall, http.MethodHead: actionCall, http.MethodPost: actionCall, http.MethodOptions: actionInfoCall,
	}
)

func (r *request) parseAction(segments []string) *Error {
	r.name = segments[len(segments)-1]
	var ok bool
	switch {
	case len(segments) == 2:
		if r.action, ok = callActions[r.method]; !ok {
			return refuse(http.StatusMethodNotAllowed, "PGRST101", "Cannot use the "+r.method+" method on RPC")
		}
		return nil
	case r.name != "":
		r.action, ok = relationActions[r.method]
	case r.method == http.MethodOptions:
		r.action, ok = actionInfoRoot, true
	case r.method == http.MethodGet, r.method == http.MethodHead:
		return refuse(http.StatusNotFound, "PGRST126", "Root endpoint metadata is disabled")
	}
	if !ok {
		return refuse(http.StatusMethodNotAllowed, "PGRST117", "Unsupported HTTP method: "+r.method)
	}
	return nil
}

// parseSpan combines the parameters limit and offset with the header Range.
func (r *request) parseSpan() *Error {
	r.span = everything
	for i, s := range r.query.spans {
		if len(s.path) > 0 {
			continue
		}
		r.span = s.what
		r.query.spans = slices.Delete(r.query.spans, i, i+1)
		break
	}
	if r.method == http.MethodPut && r.span != everything {
		return refuse(statusBadRequest, "PGRST114", "limit/offset querystring parameters are not allowed for PUT")
	}
	if r.span.limit == 0 {
		r.span = span{}
		return nil
	}
	if r.method == http.MethodGet {
		requested, err := parseRange(r.header("Range"))
		if err != nil {
			return err
		}
		if r.span.limit > 0 {
			r.span = r.span.within(requested)
		}
	}
	if r.span.limit <= 0 {
		return outOfRange("Limit should be greater than or equal to zero.")
	}
	return nil
}

// parseQuery reads the query string; argument is whether a parameter without operator is an argument of a function.
func parseQuery(text string, argument bool) (query, *Error) {
	params := parseParams(text)
	q := query{canonical: canonical(params)}
	if err := q.parsePlaced(params); err != nil {
		return q, err
	}
	var err *Error
	if list, given := first(params, "columns"); given {
		if q.columns, err = parseNames("columns", list); err != nil {
			return q, err
		}
	}
	selected, given := first(params, "select")
	if !given {
		selected = "*"
	}
	if q.selection, err = parseSelect(selected); err != nil {
		return q, err
	}
	if err = q.parseFilters(params, argument); err != nil {
		return q, err
	}
	if list, given := first(params, "on_conflict"); given {
		q.onConflict, err = parseNames("on_conflict", list)
	}
	return q, err
}

// first is the value of the first parameter of a name.
func first(params []param, name string) (string, bool) {
	for _, p := range params {
		if p.name == name {
			return p.value, p.set
		}
	}
	return "", false
}

// parsePlaced reads order, limit, offset, and and or of the relation and its embeds.
func (q *query) parsePlaced(params []param) *Error {
	limits, offsets := map[string]string{}, map[string]string{}
	var keys []string
	for _, p := range params {
		name, stem := p.name, ""
		if dot := strings.LastIndexByte(p.name, '.'); dot >= 0 {
			stem, name = p.name[:dot+1], p.name[dot+1:]
		}
		if !p.set {
			continue
		}
		switch name {
		case "order":
			path, _, err := parsePath(p.name)
			if err != nil {
				return err
			}
			terms, err := parseOrder(p.value)
			if err != nil {
				return err
			}
			q.orders = append(q.orders, placed[[]orderTerm]{path, terms})
		case "and", "or":
			path, c, err := parseLogic(p.name, p.value)
			if err != nil {
				return err
			}
			q.conditions = append(q.conditions, placed[condition]{path, c})
		case "limit":
			limits[stem] = p.value
			keys = append(keys, stem)
		case "offset":
			offsets[stem] = p.value
			keys = append(keys, stem)
		}
	}
	slices.Sort(keys)
	for _, stem := range slices.Compact(keys) {
		path, _, err := parsePath(stem + "limit")
		if err != nil {
			return err
		}
		q.spans = append(q.spans, placed[span]{path, spanOf(limits[stem], offsets[stem])})
	}
	return nil
}

func (q *query) parseFilters(params []param, argument bool) *Error {
	for _, p := range params {
		if !p.set || slices.Contains([]string{"select", "columns", "on_conflict"}, p.name) ||
			endsIn(p.name, "order", "limit", "offset", "and", "or") {
			continue
		}
		path, target, err := parsePath(p.name)
		if err != nil {
			return err
		}
		f, filters, err := parseFilter(p.value, argument)
		if err != nil {
			return err
		}
		if !filters {
			q.arguments = append(q.arguments, param{target.name, p.value, true})
			continue
		}
		f.field = target
		q.filters = append(q.filters, placed[filter]{path, f})
		q.keys = append(q.keys, p.name)
	}
	return nil
}

// canonical is the query string with its parameters sorted by name, and those of one name in one.
func canonical(params []param) string {
	sorted := slices.Clone(params)
	slices.SortStableFunc(sorted, func(a, b param) int { return strings.Compare(a.name, b.name) })
	var text strings.Builder
	for i, p := range sorted {
		switch {
		case i > 0 && sorted[i-1].name == p.name:
			text.WriteString("," + escape(p.value))
			continue
		case i > 0:
			text.WriteByte('&')
		}
		text.WriteString(escape(p.name) + "=" + escape(p.value))
	}
	return text.String()
}

// escape writes every byte but letters, digits and -_.~ as a code.
func escape(text string) string {
	var out strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.~", c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
