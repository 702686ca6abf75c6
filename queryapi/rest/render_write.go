package rest

import (
	"encoding/json"
	"slices"
)

// mutation writes the statement that changes rows and returns what is read of them.
func (s *sqlText) mutation(p *plan) {
	switch p.action {
	case actionDelete:
		s.write("DELETE FROM ", p.relation.sql())
	case actionUpdate:
		if len(p.columns) == 0 { // nothing is set: no row is changed
			s.write("SELECT ")
			s.returned(p, "NULL")
			s.write(" FROM ", p.relation.sql(), " WHERE false")
			return
		}
		s.write("UPDATE ", p.relation.sql(), " SET ")
		list(s, ", ", p.columns, func(c *column) { s.write(quote(c.name), " = pgrst_body.", quote(c.name)) })
		s.write(" FROM ")
		s.rows(p)
	default:
		s.insert(p)
	}
	if p.action == actionUpdate || p.action == actionDelete {
		s.tests(" WHERE ", p.relation.sql(), p.where)
	}
	s.write(" RETURNING ")
	s.returned(p, "1")
}

// returned writes what a statement returns; none stands for nothing.
func (s *sqlText) returned(p *plan, none string) {
	switch {
	case p.unread, p.prefer.returns == "headers-only" && len(p.returned) == 0:
		s.write(none)
	case len(p.returned) == 0:
		s.write(p.relation.sql(), ".*")
	default:
		s.names(p.relation.sql()+".", p.returned)
	}
}

func (s *sqlText) tests(word, ref string, tests []*test) {
	for _, t := range tests {
		s.write(word)
		s.test(ref, t)
		word = " AND "
	}
}

// The setting pgrst.inserted counts rows: those that are to be inserted, less those that then were updated.
const (
	countInserted = "set_config('pgrst.inserted', (coalesce(nullif(current_setting('pgrst.inserted', true), '')::int, 0) + 1)::text, true) <> '0'"
	countUpdated  = "set_config('pgrst.inserted', (coalesce(nullif(current_setting('pgrst.inserted', true), '')::int, 0) - 1)::text, true) <> '-1'"
)

func (s *sqlText) insert(p *plan) {
	s.write("INSERT INTO ", p.relation.sql())
	if len(p.columns) > 0 {
		s.write("(")
		s.names("", p.columns)
		s.write(")")
	}
	s.write(" SELECT ")
	s.names("pgrst_body.", p.columns)
	s.write(" FROM ")
	s.rows(p)
	merges := p.action == actionUpsert || p.prefer.resolution == "merge-duplicates"
	if merges {
		s.write(" WHERE ", countInserted)
		s.tests(" AND ", quote("pgrst_body"), p.where)
	}
	if len(p.conflict) == 0 {
		return
	}
	s.write(" ON CONFLICT (")
	s.names("", p.conflict)
	s.write(") DO ")
	if !merges || len(p.columns) == 0 {
		s.write("NOTHING")
		return
	}
	s.write("UPDATE SET ")
	list(s, ", ", p.columns, func(c *column) { s.write(quote(c.name), " = EXCLUDED.", quote(c.name)) })
	s.write(" WHERE ", countUpdated)
}

// rows writes the rows of a payload, as the relation pgrst_body.
func (s *sqlText) rows(p *plan) {
	defaults := p.prefer.missing == "default" && p.action != actionUpsert
	typ, function, source := typeJSON, "json", "pgrst_payload.json_data"
	if defaults {
		typ, function, source = typeJSONB, "jsonb", "pgrst_json_defs.val"
	}
	s.write("(SELECT ").typed(p.payload.text, typ).write(" AS json_data) pgrst_payload, ")
	if defaults {
		s.write("LATERAL (SELECT ")
		if !p.payload.object {
			s.write("jsonb_agg(")
		}
		s.defaults(p.columns)
		if p.payload.object {
			s.write(" || pgrst_payload.json_data AS val) pgrst_json_defs, ")
		} else {
			s.write(" || elem) AS val FROM jsonb_array_elements(pgrst_payload.json_data) elem) pgrst_json_defs, ")
		}
	}
	s.write("LATERAL (SELECT ")
	s.names("", p.columns)
	switch {
	case len(p.columns) > 0 && p.payload.object:
		s.write(" FROM ", function, "_to_record(", source, ") AS _(")
		s.typedColumns(p.columns)
		s.write(")")
	case len(p.columns) > 0:
		s.write(" FROM ", function, "_to_recordset(", source, ") AS _(")
		s.typedColumns(p.columns)
		s.write(")")
	case p.payload.object:
		s.write(" FROM (VALUES (1)) _")
	default:
		s.write(" FROM ", function, "_array_elements(", source, ") _")
	}
	s.write(") pgrst_body")
}

// defaults writes an object of the defaults of columns.
func (s *sqlText) defaults(columns []*column) {
	s.write("jsonb_build_object(")
	word := ""
	for _, c := range columns {
		if c.defaultValue != "" {
			s.write(word).value(c.name).write("::text, ", c.defaultValue)
			word = ", "
		}
	}
	s.write(")")
}

// call writes the SELECT that calls a function with its arguments.
func (s *sqlText) call(p *plan) {
	f := p.function
	s.write("SELECT ")
	switch {
	case !f.composite:
		s.write("pgrst_call.", scalarName)
	case len(p.returned) == 0:
		s.write("pgrst_call.*")
	default:
		s.names("pgrst_call.", p.returned)
	}
	s.write(" FROM ")
	params := p.given()
	byBody := !p.safe() && p.payload.form == nil && len(params) > 0 && params[0].name != ""
	if byBody {
		s.arguments(p, params)
	}
	if !f.composite {
		s.write("(SELECT ")
	}
	s.write(f.sql(), "(")
	list(s, ", ", params, func(param parameter) { s.argument(p, param, byBody) })
	s.write(")")
	if !f.composite {
		s.write(" ", scalarName, ")")
	}
	s.write(" pgrst_call")
}

// given are the parameters that a request has arguments for.
func (p *plan) given() []parameter {
	var params []parameter
	for _, param := range p.function.params {
		if param.name == "" || p.argument(param) {
			params = append(params, param)
		}
	}
	return params
}

// argument is whether a request has one for a parameter.
func (p *plan) argument(param parameter) bool {
	if p.safe() || p.payload.form != nil {
		return len(p.valuesOf(param)) > 0
	}
	return slices.Contains(p.payload.keys, param.name)
}

// valuesOf are the arguments for a parameter that came as text.
func (p *plan) valuesOf(param parameter) (values []string) {
	arguments := p.payload.form
	if p.safe() {
		arguments = p.query.arguments
	}
	for _, argument := range arguments {
		if argument.name == param.name {
			values = append(values, argument.value)
		}
	}
	return values
}

// arguments writes the columns of a body's object, as the relation pgrst_body.
func (s *sqlText) arguments(p *plan, params []parameter) {
	var columns []*column
	for _, param := range params {
		columns = append(columns, &column{name: param.name, typ: longest(param.typ)})
	}
	function := "json_to_recordset"
	if p.payload.object {
		function = "json_to_record"
	}
	s.write("(SELECT ").typed(p.payload.text, typeJSON).write(" AS json_data) pgrst_payload, LATERAL (SELECT ")
	s.names("", columns)
	s.write(" FROM ", function, "(pgrst_payload.json_data) AS _(")
	s.typedColumns(columns)
	s.write(") LIMIT 1) pgrst_body, LATERAL ")
}

func (s *sqlText) argument(p *plan, param parameter, byBody bool) {
	if param.name == "" {
		s.whole(p, param)
		return
	}
	if param.variadic {
		s.write("VARIADIC ")
	}
	s.write(quote(param.name), " := ")
	values := p.valuesOf(param)
	switch {
	case byBody:
		s.write("pgrst_body.", quote(param.name))
		return
	case param.variadic:
		s.typed([]byte(arrayLiteral(values)), typeTextArray)
	default:
		s.value(values[len(values)-1])
	}
	s.write("::", longest(param.typ))
}

// whole writes the body, or what there is instead of one, as the only argument.
func (s *sqlText) whole(p *plan, param parameter) {
	text := p.payload.text
	if p.payload.form != nil {
		object := map[string]string{}
		for _, argument := range p.payload.form {
			object[argument.name] = argument.value
		}
		text, _ = json.Marshal(object) // strings, which cannot fail
	}
	if param.typ == "bytea" {
		s.typed(text, typeBytea)
		return
	}
	s.typed(text, typeUnknown).write("::", param.typ)
}

// longest is a type that does not cut values off: character alone is one character.
func longest(typ string) string {
	names := map[string]string{
		"bit": "bit varying", "bit[]": "bit varying[]", "character": "character varying", "character[]": "character varying[]",
	}
	if name, ok := names[typ]; ok {
		return name
	}
	return typ
}
