package rest

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// An action is the kind of a request.
type action int

const (
	actionRead action = iota
	actionInsert
	actionUpdate
	actionUpsert
	actionDelete
	actionCall
	actionInfo     // OPTIONS of a relation
	actionInfoCall // OPTIONS of a function
	actionInfoRoot
)

func (a action) writes() bool {
	return a == actionInsert || a == actionUpdate || a == actionUpsert || a == actionDelete
}

// rawRequest is a copy of an HTTP request.
type rawRequest struct {
	method, path, query string // the path without the prefix, still escaped
	headers             [][2]string
	body                []byte
}

// header returns the first value of a header.
func (r rawRequest) header(name string) string {
	if values := r.headerValues(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

func (r rawRequest) headerValues(name string) (values []string) {
	for _, h := range r.headers {
		if strings.EqualFold(h[0], name) {
			values = append(values, h[1])
		}
	}
	return values
}

// A request is a parsed request. It names things that may not exist.
type request struct {
	rawRequest
	action   action
	name     string // of the relation or function
	schema   string
	profiled bool // the response names the schema
	query    query
	rows     rowRange
	prefer   preferences
	accept   []mediaType
	content  mediaType
	payload  payload
}

// argumentsInQuery reports whether a call has its arguments in the query string.
func (r *request) argumentsInQuery() bool { return r.method != http.MethodPost }

// A query is a parsed query string.
type query struct {
	canonical  string // parameters sorted by name
	selection  selection
	filters    []scoped[condition] // of a column each
	filterKeys []string            // the names of their parameters
	logic      []scoped[condition] // and=(…), or=(…)
	orders     []scoped[[]orderTerm]
	ranges     []scoped[rowRange]
	arguments  []param  // of a function
	columns    []string // nil: no such parameter
	onConflict []string // nil: no such parameter
}

// scoped is a parameter for the embed at path, or for the relation itself where path is empty.
type scoped[T any] struct {
	path  []string
	value T
}

// parse reads a request.
func parse(raw rawRequest, cfg Config, timezones map[string]bool) (*request, error) {
	r := &request{rawRequest: raw}
	err := r.parsePath(cfg)
	if err != nil {
		return nil, err
	}
	if r.query, err = parseQuery(raw.query, r.action == actionCall && r.argumentsInQuery()); err != nil {
		return nil, err
	}
	if err = r.parseRows(); err != nil {
		return nil, err
	}
	r.accept = parseAccept(raw.header("Accept"))
	r.content = parseMedia(cmp.Or(raw.header("Content-Type"), string(mediaJSON)))
	r.prefer = parsePrefer(raw.headerValues("Prefer"), timezones)
	switch {
	case r.action == actionInsert, r.action == actionUpdate:
		r.payload, err = parseBody(raw.body, r.content, r.query.columns)
	case r.action == actionUpsert:
		r.payload, err = parseBody(raw.body, r.content, nil)
	case r.action == actionCall && !r.argumentsInQuery():
		r.payload, err = parseArguments(raw.body, r.content, r.query.columns)
	}
	return r, err
}

// parsePath reads the schema, action and name.
func (r *request) parsePath(cfg Config) error {
	segments := strings.Split(strings.TrimPrefix(r.path, "/"), "/")
	for i := range segments {
		segments[i] = unescape(segments[i], false)
	}
	r.name = segments[len(segments)-1]
	if len(segments) > 2 || len(segments) == 2 && segments[0] != "rpc" {
		return refuse(http.StatusNotFound, "PGRST125", "Invalid path specified in request URL")
	}
	header := "Accept-Profile"
	switch r.method {
	case http.MethodDelete, http.MethodPatch, http.MethodPost, http.MethodPut:
		header = "Content-Profile"
	}
	r.schema, r.profiled = cfg.Schemas[0], len(cfg.Schemas) > 1
	if profiles := r.headerValues(header); len(profiles) > 0 {
		r.schema, r.profiled = profiles[0], true
	}
	if !slices.Contains(cfg.Schemas, r.schema) {
		return refuse(http.StatusNotAcceptable, "PGRST106", "Invalid schema: "+r.schema).
			hinted("Only the following schemas are exposed: " + strings.Join(cfg.Schemas, ", "))
	}
	var allowed bool
	switch {
	case len(segments) == 2:
		if r.action, allowed = callActions[r.method]; !allowed {
			return refuse(http.StatusMethodNotAllowed, "PGRST101", "Cannot use the "+r.method+" method on RPC")
		}
	case r.name != "":
		r.action, allowed = relationActions[r.method]
	case r.method == http.MethodOptions:
		r.action, allowed = actionInfoRoot, true
	case r.method == http.MethodGet, r.method == http.MethodHead:
		return refuse(http.StatusNotFound, "PGRST126", "Root endpoint metadata is disabled")
	}
	if !allowed {
		return refuse(http.StatusMethodNotAllowed, "PGRST117", "Unsupported HTTP method: "+r.method)
	}
	return nil
}

var (
	relationActions = map[string]action{
		http.MethodGet: actionRead, http.MethodHead: actionRead, http.MethodPost: actionInsert,
		http.MethodPatch: actionUpdate, http.MethodPut: actionUpsert, http.MethodDelete: actionDelete,
		http.MethodOptions: actionInfo,
	}
	callActions = map[string]action{
		http.MethodGet: actionCall, http.MethodHead: actionCall, http.MethodPost: actionCall,
		http.MethodOptions: actionInfoCall,
	}
)

// parseRows combines the parameters limit and offset with the header Range.
func (r *request) parseRows() error {
	r.rows = allRows
	isRoot := func(s scoped[rowRange]) bool { return len(s.path) == 0 }
	if i := slices.IndexFunc(r.query.ranges, isRoot); i >= 0 {
		r.rows = r.query.ranges[i].value
		r.query.ranges = slices.Delete(r.query.ranges, i, i+1)
	}
	switch {
	case r.method == http.MethodPut && r.rows != allRows:
		return badRequest("PGRST114", "limit/offset querystring parameters are not allowed for PUT")
	case r.rows.limit == 0:
		r.rows = rowRange{}
		return nil
	case r.method == http.MethodGet:
		header, err := parseRangeHeader(r.header("Range"))
		if err != nil {
			return err
		}
		if r.rows.limit > 0 {
			r.rows = r.rows.intersect(header)
		}
	}
	if r.rows.limit <= 0 {
		return outOfRange("Limit should be greater than or equal to zero.")
	}
	return nil
}

// parseQuery reads the query string. Where arguments is set, a parameter without operator is an argument of a function.
func parseQuery(text string, arguments bool) (query, error) {
	params := parseParams(text)
	q := query{canonical: canonical(params)}
	err := q.parseModifiers(params)
	if err != nil {
		return q, err
	}
	selected := "*"
	if list, ok := first(params, "columns"); ok {
		if q.columns, err = parseNames("columns", list); err != nil {
			return q, err
		}
	}
	if text, ok := first(params, "select"); ok {
		selected = text
	}
	if q.selection, err = parseSelect(selected); err != nil {
		return q, err
	}
	if err = q.parseFilters(params, arguments); err != nil {
		return q, err
	}
	if list, ok := first(params, "on_conflict"); ok {
		q.onConflict, err = parseNames("on_conflict", list)
	}
	return q, err
}

// first returns the value of the first parameter of a name; false where it has none.
func first(params []param, name string) (string, bool) {
	i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
	if i < 0 {
		return "", false
	}
	return params[i].value, params[i].set
}

// parseModifiers reads order, limit, offset, and and or of the relation and its embeds.
func (q *query) parseModifiers(params []param) error {
	ranges := map[string]rowRange{} // by the path of the embed with its last dot
	for _, p := range params {
		if !p.set {
			continue
		}
		dot := strings.LastIndexByte(p.name, '.') + 1
		embed := p.name[:dot]
		switch p.name[dot:] {
		case "order":
			path, _, err := parsePath(p.name)
			if err != nil {
				return err
			}
			terms, err := parseOrder(p.value)
			if err != nil {
				return err
			}
			q.orders = append(q.orders, scoped[[]orderTerm]{path, terms})
		case "and", "or":
			path, c, err := parseLogic(p.name, p.value)
			if err != nil {
				return err
			}
			q.logic = append(q.logic, scoped[condition]{path, c})
		case "limit":
			r := ranges[embed]
			r.limit = integer(p.value, unlimited)
			ranges[embed] = r
		case "offset":
			r, ok := ranges[embed]
			if !ok {
				r.limit = unlimited
			}
			r.offset = max(integer(p.value, 0), 0)
			ranges[embed] = r
		}
	}
	for _, embed := range slices.Sorted(maps.Keys(ranges)) {
		path, _, err := parsePath(embed + "limit")
		if err != nil {
			return err
		}
		q.ranges = append(q.ranges, scoped[rowRange]{path, ranges[embed]})
	}
	return nil
}

func (q *query) parseFilters(params []param, arguments bool) error {
	reserved := []string{"select", "columns", "on_conflict"}
	modifiers := []string{"order", "limit", "offset", "and", "or"}
	for _, p := range params {
		last := p.name[strings.LastIndexByte(p.name, '.')+1:]
		if !p.set || slices.Contains(modifiers, last) || slices.Contains(reserved, p.name) {
			continue
		}
		path, target, err := parsePath(p.name)
		if err != nil {
			return err
		}
		f, isFilter, err := parseFilter(p.value, arguments)
		if err != nil {
			return err
		}
		if !isFilter {
			q.arguments = append(q.arguments, param{target.name, p.value, true})
			continue
		}
		f.field = target
		q.filters = append(q.filters, scoped[condition]{path, condition{filter: &f}})
		q.filterKeys = append(q.filterKeys, p.name)
	}
	return nil
}

// A param is a parameter of a query string or a form.
type param struct {
	name, value string
	set         bool // there is a =
}

// parseParams reads a query string. A + is a space; a % that begins no code stands for itself.
func parseParams(text string) []param {
	var params []param
	for pair := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, set := strings.Cut(pair, "=")
		params = append(params, param{unescape(name, true), unescape(value, true), set})
	}
	return params
}

func unescape(text string, plus bool) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '+' && plus:
			out = append(out, ' ')
		case text[i] == '%' && i+2 < len(text) && hexDigit(text[i+1]) >= 0 && hexDigit(text[i+2]) >= 0:
			out = append(out, byte(hexDigit(text[i+1])<<4|hexDigit(text[i+2])))
			i += 2
		default:
			out = append(out, text[i])
		}
	}
	return string(out)
}

// hexDigit returns the value of a digit, -1 of any other character.
func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20) }

// canonical writes parameters sorted by name, with the values of one name joined.
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
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
