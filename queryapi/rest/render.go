package rest

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// sqlText is SQL under construction. Identifiers come from the cache, or are quoted: aliases, and keys of embeds. What
// else a request says goes into the parameters.
type sqlText struct {
	strings.Builder
	values [][]byte
	types  []uint32
	casts  map[string]string // SQL of the types that casts name

	maxBytes  int64 // of a body; 0: no bound
	listBytes int64 // of one embedded list
	smallRow  int64 // bytes of an embedded row that need not be counted
}

// Types of parameters, by their numbers in every PostgreSQL; those of unknown type are inferred.
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

// value adds a parameter.
func (s *sqlText) value(text string) *sqlText { return s.typed([]byte(text), typeUnknown) }

func (s *sqlText) typed(value []byte, typ uint32) *sqlText {
	s.values, s.types = append(s.values, value), append(s.types, typ)
	return s.write("$", strconv.Itoa(len(s.values)))
}

// formats are those of the parameters: bytes come as they are, the rest as text.
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
func list[T any](s *sqlText, separator string, items []T, item func(T)) {
	for i, one := range items {
		if i > 0 {
			s.write(separator)
		}
		item(one)
	}
}

// render makes the one statement of a plan. Its rows are those of the body, each as text, and after them a summary, whose
// first column is null. So a body is read row by row, and neither PostgreSQL nor this process holds more than is sent.
func (p *plan) render(casts map[string]string) *sqlText {
	s := &sqlText{casts: casts, maxBytes: p.maxBytes}
	const manyLists = 4 // from which on they share the bytes of so many
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
	rows := "NULL::bigint"
	if p.hasBody() {
		s.body(p, total)
		s.write(" UNION ALL")
	} else {
		rows = "pg_catalog.count(_postgrest_t)"
	}
	s.write(" SELECT NULL, ", total, ", ", rows,
		", nullif(current_setting('response.headers', true), ''), nullif(current_setting('response.status', true), ''), ")
	s.location(p)
	s.write(", nullif(current_setting('pgrst.inserted', true), '')")
	if !p.hasBody() {
		s.from(p)
	}
	return s
}

// hasBody reports whether the response may show rows.
func (p *plan) hasBody() bool {
	return p.method != http.MethodHead && (!p.action.writes() || p.prefer.returns == "representation")
}

// from writes the relation whose rows are the response's.
func (s *sqlText) from(p *plan) {
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
	const others = ", NULL::bigint, NULL, NULL, NULL, NULL"
	if p.media == mediaCSV {
		s.write(" SELECT (SELECT coalesce(string_agg(k, ','), '') FROM (SELECT json_object_keys(row_to_json(pgrst_row)) AS k FROM (SELECT * FROM ",
			sourceName, " LIMIT 1) AS pgrst_row) AS keys), ", total, others, " UNION ALL")
	}
	row := "row_to_json(_postgrest_t)"
	if p.scalars() {
		row = "to_json(_postgrest_t." + scalarName + ")"
	}
	switch p.media {
	case mediaCSV:
		row = "substring(_postgrest_t::text, 2, length(_postgrest_t::text) - 2)"
	case mediaStripped, mediaBareObject:
		row = "coalesce(json_strip_nulls(" + row + ")::text, 'null')"
	default:
		row = "coalesce(" + row + "::text, 'null')"
	}
	s.write(" SELECT ", row, ", ", total, others)
	s.from(p)
}

// scalars reports whether the rows of a body are single values.
func (p *plan) scalars() bool {
	return p.function != nil && !p.function.composite && !(p.media.single() && p.function.set)
}

// location writes the expression of the primary key of a single inserted row, as filters.
func (s *sqlText) location(p *plan) {
	if p.action != actionInsert || p.prefer.returns != "headers-only" || len(p.relation.key) == 0 {
		s.write("NULL")
		return
	}
	s.write("CASE WHEN pg_catalog.count(_postgrest_t) = 1 THEN (SELECT json_agg(json_build_array(f.key, f.value)) FROM ",
		"(SELECT row_to_json(pgrst_row) AS row FROM ", sourceName, " AS pgrst_row LIMIT 1) AS one, json_each_text(one.row) AS f)::text END")
}

// typedColumns writes a name and its type for each column.
func (s *sqlText) typedColumns(columns []*column) {
	list(s, ", ", columns, func(c *column) { s.write(quote(c.name), " ", c.typ) })
}

func (s *sqlText) names(prefix string, columns []*column) {
	list(s, ", ", columns, func(c *column) { s.write(prefix, quote(c.name)) })
}

// operators are those of PostgreSQL, by their names in a request.
var operators = map[string]string{
	"eq": "=", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<", "neq": "<>", "like": "like", "ilike": "ilike", "match": "~",
	"imatch": "~*", "cs": "@>", "cd": "<@", "ov": "&&", "sl": "<<", "sr": ">>", "nxr": "&<", "nxl": "&>", "adj": "-|-",
	"isdistinct": "IS DISTINCT FROM", "fts": "@@ to_tsquery", "plfts": "@@ plainto_tsquery", "phfts": "@@ phraseto_tsquery",
	"wfts": "@@ websearch_to_tsquery",
}

var truths = map[string]string{"null": "NULL", "not_null": "NOT NULL", "true": "TRUE", "false": "FALSE", "unknown": "UNKNOWN"}

// test writes a condition on columns that ref stands before.
func (s *sqlText) test(ref string, t *test) {
	switch {
	case t.filter == nil:
		s.combined(t, func(part *test) { s.test(ref, part) })
	case t.embed != nil:
		not := "NOT "
		if t.filter.negated {
			not = ""
		}
		s.write(t.embed.lateral, " IS ", not, "DISTINCT FROM NULL")
	default:
		s.filter(ref, t)
	}
}

func (s *sqlText) combined(t *test, part func(*test)) {
	word := " AND "
	if t.or {
		word = " OR "
	}
	if t.negated {
		s.write("NOT ")
	}
	s.write("(")
	list(s, word, t.parts, part)
	s.write(")")
}

func (s *sqlText) filter(ref string, t *test) {
	f := t.filter
	if f.negated {
		s.write("NOT ")
	}
	switch f.operator {
	case "is":
		s.field(ref, t.column, f.path)
		s.write(" IS ", truths[f.value])
	case "in":
		s.field(ref, t.column, f.path)
		if len(f.list) == 1 && f.list[0] == "" {
			s.write(" = ANY ('{}')")
			return
		}
		s.write(" = ANY (").value(arrayLiteral(f.list)).write(")")
	case "fts", "plfts", "phfts", "wfts":
		s.search(ref, t)
	default:
		s.field(ref, t.column, f.path)
		value := f.value
		if f.operator == "like" || f.operator == "ilike" {
			value = strings.ReplaceAll(value, "*", "%")
		}
		s.write(" ", operators[f.operator], " ")
		if f.each == "" {
			s.value(value)
			return
		}
		s.write(strings.ToUpper(f.each), "(").value(value).write(")")
	}
}

// search writes a full-text search. What is no tsvector becomes one.
func (s *sqlText) search(ref string, t *test) {
	language := func() {
		if t.filter.language != "" {
			s.value(t.filter.language).write(", ")
		}
	}
	if (t.column.searchable || t.column.typ == "tsvector") && len(t.filter.path) == 0 {
		s.field(ref, t.column, nil)
	} else {
		s.write("to_tsvector(")
		language()
		s.field(ref, t.column, t.filter.path)
		s.write(")")
	}
	s.write(" ", operators[t.filter.operator], "(")
	language()
	s.value(t.filter.value).write(")")
}

// arrayLiteral is an array of text in PostgreSQL's form, whose elements may become any type.
func arrayLiteral(items []string) string {
	var text strings.Builder
	text.WriteByte('{')
	for i, item := range items {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteByte('"')
		text.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(item))
		text.WriteByte('"')
	}
	text.WriteByte('}')
	return text.String()
}
