package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/internal/problem"
)

// planCall finds the function of a request, and plans its result.
func (p *planner) planCall() error {
	names := p.payload.keys
	if p.argumentsInQuery() {
		names = nil
		for _, argument := range p.query.arguments {
			names = append(names, argument.name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	var err error
	if p.function, err = p.findFunction(names); err != nil {
		return err
	}
	p.readOnly = p.argumentsInQuery() || p.function.volatility != "v"
	if err := p.planRead(p.resultNode()); err != nil {
		return err
	}
	p.returning = p.read.neededColumns(nil)
	return nil
}

// checkMaxAffected refuses a bound on the rows of a function that returns one value.
func (p *planner) checkMaxAffected() error {
	if p.function != nil && p.prefer.strict() && p.prefer.maxAffected != nil && !p.function.set {
		return badRequest("PGRST128",
			"Function must return SETOF or TABLE when max-affected preference is used with handling=strict")
	}
	return nil
}

// scalarName is the column that holds the result of a function that returns no rows.
const scalarName = "pgrst_scalar"

// resultNode reads the result of a function: the rows of a relation, or columns of its own.
func (p *planner) resultNode() *node {
	n := &node{rows: p.rows, results: []*column{{name: scalarName}}}
	label := p.function.name
	if f := p.function; f.composite {
		n.relation, n.results = p.schemas.relations[qualified{p.schema, f.result.name}], f.columns
	}
	if n.relation != nil {
		label = n.relation.name
	}
	n.readFrom(label)
	return n
}

// findFunction finds the only function whose parameters have the names of the arguments; else the only one with a
// single unnamed parameter, which is the whole body.
func (p *planner) findFunction(names []string) (*function, error) {
	var named, unnamed []*function
	overloads := p.schemas.functions[qualified{p.schema, p.name}]
	for _, f := range overloads {
		switch {
		case p.hasParameters(f, names):
			named = append(named, f)
		case p.takesBody(f):
			unnamed = append(unnamed, f)
		}
	}
	if len(named) == 0 {
		named = unnamed
	}
	switch len(named) {
	case 0:
		return nil, p.functionNotFound(names, overloads)
	case 1:
		return named[0], nil
	}
	return nil, ambiguousFunction(named)
}

// hasParameters reports whether a function has all parameters of these names, and requires no other.
func (p *planner) hasParameters(f *function, names []string) bool {
	if len(f.params) == 0 && !p.argumentsInQuery() && p.content != mediaJSON && bodyTypes[p.content] != nil {
		return false
	}
	for _, param := range f.params {
		if param.required && !slices.Contains(names, param.name) {
			return false
		}
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(f.parameterNames(), name) })
}

// bodyTypes are the types of a single unnamed parameter, by the media type of the body.
var bodyTypes = map[mediaType][]string{
	mediaJSON: {"json", "jsonb"}, mediaText: {"text"}, mediaXML: {"xml"}, mediaBytes: {"bytea"},
}

func (p *planner) takesBody(f *function) bool {
	return !p.argumentsInQuery() && len(f.params) == 1 && f.params[0].name == "" &&
		slices.Contains(bodyTypes[p.content], f.params[0].typ)
}

func (p *planner) functionNotFound(names []string, overloads []*function) error {
	name, list := p.schema+"."+p.name, strings.Join(names, ", ")
	signature, searched := "("+list+")", " with parameters "+list
	switch len(names) {
	case 0:
		signature, searched = " without parameters", " without parameters"
	case 1:
		searched = " with parameter " + list
	}
	if types := bodyTypes[p.content]; p.method == http.MethodPost && types != nil {
		if p.content == mediaJSON {
			searched += " or with a single unnamed json/jsonb parameter"
		} else {
			signature, searched = "", " with a single unnamed "+types[0]+" parameter"
		}
	}
	e := refuse(http.StatusNotFound, "PGRST202", "Could not find the function "+name+signature+" in the schema cache").
		detailed("Searched for the function " + name + searched + ", but no matches were found in the schema cache.")
	if signature == "" {
		return e
	}
	if near := p.similarFunction(names, overloads); near != "" {
		e.hint = "Perhaps you meant to call the function " + p.schema + "." + near
	}
	return e
}

// similarFunction returns a function of a similar name, or one of this name with similar parameters; else "".
func (p *planner) similarFunction(names []string, overloads []*function) string {
	if len(overloads) == 0 {
		return problem.Similar(p.name, namesIn(p.schemas.functions, p.schema), verySimilar)
	}
	var lists []string
	for _, f := range overloads {
		lists = append(lists, strings.Join(slices.Sorted(slices.Values(f.parameterNames())), ", "))
	}
	if near := problem.Similar(strings.Join(names, ", "), lists, similar); near != "" {
		return p.name + "(" + near + ")"
	}
	return ""
}

func (f *function) parameterNames() (names []string) {
	for _, param := range f.params {
		names = append(names, param.name)
	}
	return names
}

func ambiguousFunction(candidates []*function) error {
	var list []string
	for _, f := range candidates {
		var params []string
		for _, param := range f.params {
			params = append(params, param.name+" => "+param.typ)
		}
		list = append(list, f.schema+"."+f.name+"("+strings.Join(params, ", ")+")")
	}
	return refuse(http.StatusMultipleChoices, "PGRST203",
		"Could not choose the best candidate function between: "+strings.Join(list, ", ")).
		hinted("Try renaming the parameters or the function itself in the database " +
			"so function overloading can be resolved")
}

// call writes the SELECT that calls a function with its arguments.
func (s *sqlText) call(p *plan) {
	f := p.function
	s.write("SELECT ")
	switch {
	case !f.composite:
		s.write("pgrst_call.", scalarName)
	case len(p.returning) == 0:
		s.write("pgrst_call.*")
	default:
		s.names("pgrst_call.", p.returning)
	}
	s.write(" FROM ")
	params := slices.DeleteFunc(slices.Clone(f.params), func(param parameter) bool { return !p.hasArgument(param) })
	fromBody := !p.argumentsInQuery() && p.payload.form == nil && len(params) > 0 && params[0].name != ""
	if fromBody {
		s.bodyArguments(p, params)
	}
	if !f.composite {
		s.write("(SELECT ")
	}
	s.write(f.sql(), "(")
	list(s, ", ", params, func(param parameter) { s.argument(p, param, fromBody) })
	s.write(")")
	if !f.composite {
		s.write(" ", scalarName, ")")
	}
	s.write(" pgrst_call")
}

// hasArgument reports whether a request has an argument for a parameter. The unnamed parameter takes the body.
func (p *plan) hasArgument(param parameter) bool {
	switch {
	case param.name == "":
		return true
	case p.argumentsInQuery(), p.payload.form != nil:
		return len(p.textArguments(param)) > 0
	}
	return slices.Contains(p.payload.keys, param.name)
}

// prepare runs the Preparer of a call, which does not count against the time until the statement starts.
func (a *API) prepare(ctx, startCtx context.Context, p *plan) (context.Context, context.CancelFunc, error) {
	preparer := a.cfg.Preparers[p.name]
	if p.function == nil || p.readOnly || preparer == nil {
		return startCtx, func() {}, nil
	}
	within, cancel := context.WithTimeout(ctx, a.cfg.StatementTimeout)
	defer cancel()
	var err error
	if p.prepared, err = preparer(within, p.caller, p.bodyArgumentText); err != nil {
		return nil, nil, err
	}
	startCtx, cancelStart := context.WithTimeout(ctx, a.cfg.AcquireTimeout)
	return startCtx, cancelStart, nil
}

// bodyArgumentText returns a text argument in the body of a call; "" for none.
func (p *plan) bodyArgumentText(name string) string {
	if values := p.textArguments(parameter{name: name}); len(values) > 0 {
		return values[len(values)-1]
	}
	var calls []map[string]any
	text := p.payload.text
	if p.payload.object {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	if json.Unmarshal(text, &calls) != nil || len(calls) == 0 {
		return ""
	}
	value, _ := calls[0][name].(string)
	return value
}

// textArguments returns the arguments for a parameter in the query string or form.
func (p *plan) textArguments(param parameter) (values []string) {
	arguments := p.payload.form
	if p.argumentsInQuery() {
		arguments = p.query.arguments
	}
	for _, argument := range arguments {
		if argument.name == param.name {
			values = append(values, argument.value)
		}
	}
	return values
}

// bodyArguments writes the members of a body's object, as the relation pgrst_body.
func (s *sqlText) bodyArguments(p *plan, params []parameter) {
	var columns []*column
	for _, param := range params {
		columns = append(columns, &column{name: param.name, typ: unbounded(param.typ)})
	}
	s.payload(p, typeJSON)
	s.write("LATERAL ")
	s.records("json", "pgrst_payload.json_data", p.payload.object, columns)
	s.write(" LIMIT 1) pgrst_body, LATERAL ")
}

func (s *sqlText) argument(p *plan, param parameter, fromBody bool) {
	if param.name == "" {
		s.bodyArgument(p, param)
		return
	}
	if param.variadic {
		s.write("VARIADIC ")
	}
	s.write(quote(param.name), " := ")
	values := p.textArguments(param)
	switch {
	case fromBody:
		s.write("pgrst_body.", quote(param.name))
		return
	case param.variadic:
		s.typed([]byte(arrayLiteral(values)), typeTextArray)
	default:
		s.value(values[len(values)-1])
	}
	s.write("::", unbounded(param.typ))
}

// bodyArgument writes the body, a form as an object, as the only argument.
func (s *sqlText) bodyArgument(p *plan, param parameter) {
	text := p.payload.text
	if p.payload.form != nil {
		text, _ = formObject(p.payload.form)
	}
	if param.typ == "bytea" {
		s.typed(text, typeBytea)
		return
	}
	s.typed(text, typeUnknown).write("::", param.typ)
}

// unboundedTypes do not cut values: character alone is one character.
var unboundedTypes = map[string]string{
	"bit": "bit varying", "bit[]": "bit varying[]",
	"character": "character varying", "character[]": "character varying[]",
}

func unbounded(typ string) string { return cmp.Or(unboundedTypes[typ], typ) }
