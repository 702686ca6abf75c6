package rest

import "strings"

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
