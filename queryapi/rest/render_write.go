package rest

import "slices"

// mutation writes the statement that changes rows and returns what the response reads of them.
func (s *sqlText) mutation(p *plan) {
	table := p.relation.sql()
	switch p.action {
	case actionDelete:
		s.write("DELETE FROM ", table)
		s.conditions(" WHERE ", table, p.where)
	case actionUpdate:
		if len(p.written) == 0 { // no row is changed
			s.write("SELECT ")
			s.returned(p, "NULL")
			s.write(" FROM ", table, " WHERE false")
			return
		}
		s.write("UPDATE ", table, " SET ")
		list(s, ", ", p.written, func(c *column) { s.write(quote(c.name), " = pgrst_body.", quote(c.name)) })
		s.write(" FROM ")
		s.payloadRows(p)
		s.conditions(" WHERE ", table, p.where)
	default:
		s.insert(p)
	}
	s.write(" RETURNING ")
	s.returned(p, "1")
}

// returned writes the columns that a statement returns, or placeholder where it returns none.
func (s *sqlText) returned(p *plan, placeholder string) {
	switch {
	case p.returnsNothing():
		s.write(placeholder)
	case len(p.returning) == 0:
		s.write(p.relation.sql(), ".*")
	default:
		s.names(p.relation.sql()+".", p.returning)
	}
}

func (s *sqlText) conditions(first, ref string, conditions []condition) {
	for i, c := range conditions {
		s.write(separator(i, first, " AND "))
		s.condition(ref, c, false)
	}
}

// The setting pgrst.inserted counts the rows to insert, less those that were updated instead.
const (
	inserted      = "coalesce(nullif(current_setting('pgrst.inserted', true), '')::int, 0)"
	countInserted = "set_config('pgrst.inserted', (" + inserted + " + 1)::text, true) <> '0'"
	countUpdated  = "set_config('pgrst.inserted', (" + inserted + " - 1)::text, true) <> '-1'"
)

func (s *sqlText) insert(p *plan) {
	s.write("INSERT INTO ", p.relation.sql())
	if len(p.written) > 0 {
		s.write("(")
		s.names("", p.written)
		s.write(")")
	}
	s.write(" SELECT ")
	s.names("pgrst_body.", p.written)
	s.write(" FROM ")
	s.payloadRows(p)
	merges := p.action == actionUpsert || p.prefer.resolution == "merge-duplicates"
	if merges {
		s.write(" WHERE ", countInserted)
		s.conditions(" AND ", quote("pgrst_body"), p.where)
	}
	if len(p.conflict) == 0 {
		return
	}
	s.write(" ON CONFLICT (")
	s.names("", p.conflict)
	s.write(") DO ")
	if !merges || len(p.written) == 0 {
		s.write("NOTHING")
		return
	}
	s.write("UPDATE SET ")
	list(s, ", ", p.written, func(c *column) { s.write(quote(c.name), " = EXCLUDED.", quote(c.name)) })
	s.write(" WHERE ", countUpdated)
}

// payloadRows writes the rows of a payload, as the relation pgrst_body.
func (s *sqlText) payloadRows(p *plan) {
	if p.prefer.missing == "default" && p.action != actionUpsert {
		s.payload(p, typeJSONB)
		s.write("LATERAL (SELECT ")
		if p.payload.object {
			s.defaults(p.written)
			s.write(" || pgrst_payload.json_data AS val) pgrst_json_defs, ")
		} else {
			s.write("jsonb_agg(")
			s.defaults(p.written)
			s.write(" || elem) AS val FROM jsonb_array_elements(pgrst_payload.json_data) elem) pgrst_json_defs, ")
		}
		s.write("LATERAL ")
		s.records("jsonb", "pgrst_json_defs.val", p.payload.object, p.written)
	} else {
		s.payload(p, typeJSON)
		s.write("LATERAL ")
		s.records("json", "pgrst_payload.json_data", p.payload.object, p.written)
	}
	s.write(") pgrst_body")
}

// payload writes the JSON of the body, as the relation pgrst_payload.
func (s *sqlText) payload(p *plan, typ uint32) {
	s.write("(SELECT ").typed(p.payload.text, typ).write(" AS json_data) pgrst_payload, ")
}

// records writes the SELECT, without its closing bracket, of columns of a JSON object or array of objects.
func (s *sqlText) records(typ, source string, object bool, columns []*column) {
	s.write("(SELECT ")
	s.names("", columns)
	s.write(" FROM ")
	switch {
	case len(columns) > 0:
		function := "_to_recordset("
		if object {
			function = "_to_record("
		}
		s.write(typ, function, source, ") AS _(")
		list(s, ", ", columns, func(c *column) { s.write(quote(c.name), " ", c.typ) })
		s.write(")")
	case object:
		s.write("(VALUES (1)) _")
	default:
		s.write(typ, "_array_elements(", source, ") _")
	}
}

// defaults writes an object of the defaults of columns.
func (s *sqlText) defaults(columns []*column) {
	s.write("jsonb_build_object(")
	withDefault := slices.DeleteFunc(slices.Clone(columns), func(c *column) bool { return c.defaultValue == "" })
	list(s, ", ", withDefault, func(c *column) { s.value(c.name).write("::text, ", c.defaultValue) })
	s.write(")")
}

func (s *sqlText) names(prefix string, columns []*column) {
	list(s, ", ", columns, func(c *column) { s.write(prefix, quote(c.name)) })
}
