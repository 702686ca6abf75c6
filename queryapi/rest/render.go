package rest

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// sqlText is SQL under construction. Identifiers come from the schema cache or are quoted: aliases, and keys of embeds.
// Everything else in a request becomes a parameter.
type sqlText struct {
	strings.Builder
	values [][]byte
	types  []uint32
	casts  map[string]string // SQL of the types that casts name

	maxBytes  int64 // of a body; 0: no bound
	listBytes int64 // of one embedded list
	smallRow  int64 // bytes of an embedded row that need not be counted
}

// Types of parameters, by their numbers in every PostgreSQL, which infers an unknown one.
const (
	typeUnknown   uint32 = 0
	typeBytea     uint32 = 17
	typeJSON      uint32 = 114
	typeTextArray uint32 = 1009
	typeJSONB     uint32 = 3802
)

func (s *sqlText) write(parts ...string) *sqlText {
	for _, part := range parts {
		s.WriteString(part)
	}
	return s
}

// value writes a parameter.
func (s *sqlText) value(text string) *sqlText { return s.typed([]byte(text), typeUnknown) }

func (s *sqlText) typed(value []byte, typ uint32) *sqlText {
	s.values, s.types = append(s.values, value), append(s.types, typ)
	return s.write("$", strconv.Itoa(len(s.values)))
}

// formats returns the formats of the parameters: bytes are binary, the rest is text.
func (s *sqlText) formats() []int16 {
	formats := make([]int16, len(s.types))
	for i, typ := range s.types {
		if typ == typeBytea {
			formats[i] = pgx.BinaryFormatCode
		}
	}
	return formats
}

// list writes items with a separator between them.
func list[T any](s *sqlText, separator string, items []T, write func(T)) {
	for i, item := range items {
		if i > 0 {
			s.write(separator)
		}
		write(item)
	}
}

// render returns the one statement of a plan. Its rows are the body's, each as text, and after them a summary, whose
// first column is null. So the body is read row by row, and neither PostgreSQL nor this process holds more than the
// response.
func (p *plan) render(casts map[string]string) *sqlText {
	s := &sqlText{casts: casts, maxBytes: p.maxBytes}
	const manyLists = 4 // from here on they share the bytes of so many
	s.listBytes = p.maxBytes * manyLists / int64(max(p.lists, manyLists))
	if p.maxRows != nil {
		s.smallRow = s.listBytes / *p.maxRows
	}
	s.write("WITH ", sourceName, " AS (")
	switch {
	case p.action == actionCall:
		s.call(p)
	case p.action.writes():
		s.mutation(p)
	default:
		s.read(p.read)
	}
	s.write(")")
	total := "NULL::bigint"
	if p.prefer.counted() && !p.action.writes() {
		s.write(", pgrst_source_count AS (")
		s.count(p.read)
		if p.prefer.count == "estimated" && p.maxRows != nil {
			s.write(" LIMIT ").value(strconv.FormatInt(*p.maxRows+1, 10))
		}
		s.write(")")
		total = "(SELECT pg_catalog.count(*) FROM pgrst_source_count)"
	}
	rows := "pg_catalog.count(_postgrest_t)"
	if p.hasBody() {
		rows = "NULL::bigint"
		s.body(p, total)
		s.write(" UNION ALL")
	}
	s.write(" SELECT NULL, ", total, ", ", rows, ", nullif(current_setting('response.headers', true), '')",
		", nullif(current_setting('response.status', true), ''), ")
	s.location(p)
	s.write(", nullif(current_setting('pgrst.inserted', true), '')")
	if !p.hasBody() {
		s.fromResult(p)
	}
	return s
}

// hasBody reports whether the response may show rows.
func (p *plan) hasBody() bool {
	return p.method != "HEAD" && (!p.action.writes() || p.prefer.returns == "representation")
}

// fromResult writes the relation that has the rows of the response.
func (s *sqlText) fromResult(p *plan) {
	s.write(" FROM (")
	if p.action == actionRead || p.action.writes() && p.prefer.returns != "representation" {
		s.write("SELECT * FROM ", sourceName)
	} else {
		s.read(p.read)
	}
	s.write(") _postgrest_t")
}

// body writes the SELECT of the rows of a body as text; in CSV the names of its columns come first.
func (s *sqlText) body(p *plan, total string) {
	const summary = ", NULL::bigint, NULL, NULL, NULL, NULL"
	row := "row_to_json(_postgrest_t)"
	if p.scalars() {
		row = "to_json(_postgrest_t." + scalarName + ")"
	}
	switch p.media {
	case mediaCSV:
		row = "substring(_postgrest_t::text, 2, length(_postgrest_t::text) - 2)"
		s.write(" SELECT (SELECT coalesce(string_agg(k, ','), '') FROM (",
			"SELECT json_object_keys(row_to_json(pgrst_row)) AS k FROM (SELECT * FROM ", sourceName,
			" LIMIT 1) AS pgrst_row) AS keys), ", total, summary, " UNION ALL")
	case mediaStripped, mediaStrippedObject:
		row = "coalesce(json_strip_nulls(" + row + ")::text, 'null')"
	default:
		row = "coalesce(" + row + "::text, 'null')"
	}
	s.write(" SELECT ", row, ", ", total, summary)
	s.fromResult(p)
}

// scalars reports whether the rows of a body are single values.
func (p *plan) scalars() bool {
	return p.function != nil && !p.function.composite && !(p.media.singular() && p.function.set)
}

// location writes the expression of the primary key of a single inserted row, as filters.
func (s *sqlText) location(p *plan) {
	if p.action != actionInsert || p.prefer.returns != "headers-only" || len(p.relation.key) == 0 {
		s.write("NULL")
		return
	}
	s.write("CASE WHEN pg_catalog.count(_postgrest_t) = 1",
		" THEN (SELECT json_agg(json_build_array(f.key, f.value)) FROM (SELECT row_to_json(pgrst_row) AS row FROM ",
		sourceName, " AS pgrst_row LIMIT 1) AS one, json_each_text(one.row) AS f)::text END")
}

// operators are PostgreSQL's, by their names in a request.
var operators = map[string]string{
	"eq": "=", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<", "neq": "<>", "isdistinct": "IS DISTINCT FROM",
	"like": "like", "ilike": "ilike", "match": "~", "imatch": "~*",
	"cs": "@>", "cd": "<@", "ov": "&&", "sl": "<<", "sr": ">>", "nxr": "&<", "nxl": "&>", "adj": "-|-",
	"fts": "@@ to_tsquery", "plfts": "@@ plainto_tsquery", "phfts": "@@ phraseto_tsquery",
	"wfts": "@@ websearch_to_tsquery",
}

// condition writes a condition on the columns of ref. In a count, embeds are no subqueries.
func (s *sqlText) condition(ref string, c condition, counting bool) {
	switch {
	case c.filter == nil:
		if c.negated {
			s.write("NOT ")
		}
		operator := " AND "
		if c.or {
			operator = " OR "
		}
		s.write("(")
		list(s, operator, c.parts, func(part condition) { s.condition(ref, part, counting) })
		s.write(")")
	case c.embed == nil:
		s.filter(ref, c.filter)
	case counting:
		if !c.filter.negated {
			s.write("NOT ")
		}
		s.write("EXISTS (")
		s.count(c.embed)
		s.write(")")
	case c.filter.negated:
		s.write(c.embed.lateral, " IS DISTINCT FROM NULL")
	default:
		s.write(c.embed.lateral, " IS NOT DISTINCT FROM NULL")
	}
}

func (s *sqlText) filter(ref string, f *filter) {
	if f.negated {
		s.write("NOT ")
	}
	switch f.operator {
	case "fts", "plfts", "phfts", "wfts":
		s.textSearch(ref, f)
		return
	}
	s.field(ref, f.field)
	switch {
	case f.operator == "is":
		s.write(" IS ", strings.ToUpper(strings.ReplaceAll(f.value, "_", " ")))
	case f.operator == "in" && len(f.list) == 1 && f.list[0] == "":
		s.write(" = ANY ('{}')")
	case f.operator == "in":
		s.write(" = ANY (").value(arrayLiteral(f.list)).write(")")
	default:
		value := f.value
		if f.operator == "like" || f.operator == "ilike" {
			value = strings.ReplaceAll(value, "*", "%")
		}
		s.write(" ", operators[f.operator], " ")
		if f.quantifier == "" {
			s.value(value)
			return
		}
		s.write(strings.ToUpper(f.quantifier), "(").value(value).write(")")
	}
}

// textSearch writes a full-text search. A field that is no tsvector becomes one.
func (s *sqlText) textSearch(ref string, f *filter) {
	language := func() {
		if f.language != "" {
			s.value(f.language).write(", ")
		}
	}
	if (f.column.searchable || f.column.typ == "tsvector") && len(f.path) == 0 {
		s.field(ref, f.field)
	} else {
		s.write("to_tsvector(")
		language()
		s.field(ref, f.field)
		s.write(")")
	}
	s.write(" ", operators[f.operator], "(")
	language()
	s.value(f.value).write(")")
}

// field writes a column, or a part of it as JSON.
func (s *sqlText) field(ref string, f field) {
	name := ref + "." + quote(f.column.name)
	if len(f.path) > 0 && f.column.typ != "json" && f.column.typ != "jsonb" {
		name = "to_jsonb(" + name + ")"
	}
	s.write(name)
	for _, step := range f.path {
		s.write("->")
		if step.text {
			s.write(">")
		}
		if s.value(step.key); step.index {
			s.write("::int")
		}
	}
}

// arrayLiteral writes an array of text in PostgreSQL's form, whose elements may become any type.
func arrayLiteral(items []string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	elements := make([]string, len(items))
	for i, item := range items {
		elements[i] = `"` + escaped.Replace(item) + `"`
	}
	return "{" + strings.Join(elements, ",") + "}"
}
