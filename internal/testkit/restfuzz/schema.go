package restfuzz

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A Schema is what requests can name.
type Schema struct {
	Relations map[string]*Relation
	Functions map[string][]string // parameters
	Values    []string            // to compare columns with, beside values that fit their types
}

// A Relation is a table or view.
type Relation struct {
	Columns []Column
	Embeds  map[string]string // what a selection says, and the relation that it leads to
}

// A Column has a name and, in PostgreSQL's words, a type.
type Column struct{ Name, Type string }

const columns = `
	SELECT c.relname, a.attname, format_type(a.atttypid, NULL)
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
	WHERE c.relnamespace = $1::text::regnamespace AND c.relkind IN ('r', 'v', 'p') AND a.attnum > 0 AND NOT a.attisdropped`

const foreignKeys = `
	SELECT a.relname, b.relname, k.conname
	FROM pg_constraint k JOIN pg_class a ON a.oid = k.conrelid JOIN pg_class b ON b.oid = k.confrelid
	WHERE k.contype = 'f' AND a.relnamespace = $1::text::regnamespace AND b.relnamespace = a.relnamespace`

// Functions of a row are columns, or lead to relations; the others are called.
const functions = `
	SELECT p.proname, coalesce(p.proargnames, '{}'), coalesce(row.relname, ''), coalesce(found.relname, ''), format_type(p.prorettype, NULL)
	FROM pg_proc p
	LEFT JOIN pg_class row ON row.reltype = p.proargtypes[0] AND p.pronargs = 1
	LEFT JOIN pg_class found ON found.reltype = p.prorettype
	WHERE p.pronamespace = $1::text::regnamespace AND p.prokind = 'f'`

// Read finds what a schema of a database has.
func Read(t testing.TB, dsn, schema string) *Schema {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	s := &Schema{Relations: map[string]*Relation{}, Functions: map[string][]string{}}
	each := func(question string, into []any, do func()) {
		rows, err := conn.Query(t.Context(), question, schema)
		if err == nil {
			_, err = pgx.ForEachRow(rows, into, func() error { do(); return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var from, to, name, typ string
	each(columns, []any{&from, &name, &typ}, func() { s.relation(from).Columns = append(s.relation(from).Columns, Column{name, typ}) })
	referred := map[string][]string{}
	each(foreignKeys, []any{&from, &to, &name}, func() {
		s.relation(from).Embeds[to+"!"+name], s.relation(to).Embeds[from+"!"+name] = to, from
		for _, other := range referred[from] { // through a junction, if that is one
			s.relation(to).Embeds[other+"!"+from], s.relation(other).Embeds[to+"!"+from] = other, to
		}
		referred[from] = append(referred[from], to)
	})
	var names []string
	each(functions, []any{&name, &names, &from, &to, &typ}, func() {
		switch {
		case from == "":
			s.Functions[name] = slices.Clone(names)
		case to != "":
			s.relation(from).Embeds[name] = to
		default:
			s.relation(from).Columns = append(s.relation(from).Columns, Column{name, typ})
		}
	})
	return s
}

func (s *Schema) relation(name string) *Relation {
	if s.Relations[name] == nil {
		s.Relations[name] = &Relation{Embeds: map[string]string{}}
	}
	return s.Relations[name]
}
