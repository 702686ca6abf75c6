package rest

import (
	"strconv"
	"strings"
)

// read writes the SELECT of a node and, as lateral subqueries, of its embeds.
func (s *sqlText) read(n *node) {
	items := n.items()
	s.write("SELECT ")
	list(s, ", ", items, func(i item) { s.item(i) })
	if n.relationship != nil && n.toManySpread() {
		for i, key := range n.order {
			s.write(", ")
			s.orderField(n, key)
			s.write(" AS ", orderAlias(i))
		}
	}
	s.write(" FROM ", n.from)
	for _, e := range n.embeds {
		s.join(e)
	}
	s.where(n, func(t *test) { s.test(n.ref, t) })
	s.group(items)
	s.order(n)
	s.span(n.span)
}

// An item is one of a SELECT's list.
type item struct {
	output
	ref     string // SQL before the column
	lateral *node  // whose rows it is, as JSON; nil: a column
	toOne   bool
	column  string // the name of a column of a subquery; "": that of output
}

// items are what a node selects: its columns, then its embeds.
func (n *node) items() []item {
	var items []item
	chosen := n.outputs
	if len(chosen) == 0 && len(n.embeds) == 0 {
		chosen = []output{{star: true}}
	}
	hoisted := n.relationship != nil && n.toOneSpread()
	grouped := n.grouped()
	for _, o := range chosen {
		if hoisted && o.aggregate != "" {
			if o.star {
				o.alias = o.name()
			}
			o.aggregate, o.aggregateCast = "", ""
			items = append(items, item{output: o, ref: n.ref})
			continue
		}
		if o.star && o.aggregate == "" && grouped {
			for _, c := range n.known() {
				items = append(items, item{output: output{column: c}, ref: n.ref})
			}
			continue
		}
		items = append(items, item{output: o, ref: n.ref})
	}
	for _, e := range n.embeds {
		switch {
		case e.spread:
			for _, i := range e.spreadItems() {
				if hoisted {
					i.aggregate, i.aggregateCast, i.alias = "", "", ""
				}
				items = append(items, i)
			}
		case !e.empty():
			items = append(items, item{output: output{alias: e.key()}, lateral: e, toOne: e.relationship.toOne()})
		}
	}
	return items
}

// known are the columns that * stands for.
func (n *node) known() []*column {
	if n.relation != nil {
		return n.relation.columns
	}
	return n.results
}

// grouped is whether rows of a node are combined by aggregates.
func (n *node) grouped() bool {
	hoisted := n.relationship != nil && n.toOneSpread()
	for _, o := range n.outputs {
		if o.aggregate != "" && !hoisted {
			return true
		}
	}
	for _, e := range n.embeds {
		if !hoisted && e.spread && e.hoists() {
			return true
		}
	}
	return false
}

// spreadItems are what a parent selects of a node whose columns become its own.
func (n *node) spreadItems() []item {
	var items []item
	column := func(o output, name string) {
		items = append(items, item{output: o, ref: n.lateral, column: name})
	}
	toMany := n.toManySpread()
	for _, o := range n.outputs {
		switch {
		case o.star && o.aggregate == "":
			for _, c := range n.known() {
				column(output{}, c.name)
			}
		case toMany:
			column(output{}, o.name())
		default:
			column(output{alias: o.alias, aggregate: o.aggregate, aggregateCast: o.aggregateCast}, o.name())
		}
	}
	for _, e := range n.embeds {
		if !e.spread {
			if !e.empty() {
				column(output{}, e.key())
			}
			continue
		}
		for _, i := range e.spreadItems() {
			column(i.output, i.column)
		}
	}
	return items
}

// name is that of an item in the result.
func (i item) name() string {
	if i.alias != "" || i.column == "" {
		return i.output.name()
	}
	return i.column
}

func (s *sqlText) item(i item) {
	if i.lateral != nil {
		if i.toOne {
			s.write("row_to_json(", i.lateral.lateral, ".*)::jsonb")
		} else {
			s.write("COALESCE(", i.lateral.lateral, ".", i.lateral.lateral, ", '[]')")
		}
		s.write(" AS ", quote(i.alias))
		return
	}
	if i.aggregateCast != "" {
		s.write("CAST(")
	}
	if i.aggregate != "" {
		s.write(strings.ToUpper(i.aggregate), "(")
	}
	if i.cast != "" {
		s.write("CAST(")
	}
	switch {
	case i.column != "":
		s.write(i.ref, ".", quote(i.column))
	case i.star && i.alias != "" && i.aggregate == "":
		s.write(i.ref) // the row
	case i.star:
		s.write(i.ref, ".*")
	default:
		s.field(i.ref, i.output.column, i.path)
	}
	if i.cast != "" {
		s.write(" AS ", s.casts[i.cast], ")")
	}
	if i.aggregate != "" {
		s.write(")")
	}
	if i.aggregateCast != "" {
		s.write(" AS ", s.casts[i.aggregateCast], ")")
	}
	if i.alias != "" {
		s.write(" AS ", quote(i.alias))
	}
}

// field writes a column, or a part of it as JSON.
func (s *sqlText) field(ref string, c *column, path []jsonStep) {
	name := ref + "." + quote(c.name)
	if len(path) > 0 && c.typ != "json" && c.typ != "jsonb" {
		name = "to_jsonb(" + name + ")"
	}
	s.write(name)
	for _, step := range path {
		s.write("->")
		if step.text {
			s.write(">")
		}
		if s.value(step.key); step.index {
			s.write("::int")
		}
	}
}

// join writes the subquery of an embed.
func (s *sqlText) join(e *node) {
	kind, on := " LEFT JOIN LATERAL (", "TRUE"
	if e.inner {
		kind = " INNER JOIN LATERAL ("
	}
	s.write(kind)
	if e.relationship.toOne() {
		s.read(e)
	} else {
		s.write("SELECT json_agg(", e.lateral, ")::jsonb AS ", e.lateral)
		if e.spread {
			for _, i := range e.items() {
				s.arrays(e, i)
			}
		}
		s.write(" FROM (")
		s.read(e)
		s.write(") AS ", e.lateral)
		s.bound(e)
		if e.inner {
			on = e.lateral + " IS NOT NULL"
		}
	}
	s.write(") AS ", e.lateral, " ON ", on)
}

// bound ends the statement, with SQLSTATE 54000, when an embedded list has more bytes than a body may have: it becomes one
// value, which PostgreSQL would hold in memory several times over. A setting has the list's parent and its bytes so far.
// Small rows, of which a full list fits, are not counted, so that most requests pay for their length alone.
func (s *sqlText) bound(e *node) {
	if s.maxBytes == 0 {
		return
	}
	length := "octet_length(" + e.lateral + "::text)"
	setting := "'pgrst.list_" + strconv.Itoa(e.number) + "'"
	parent := "(ROW(" + strings.Join(e.parentKey, ", ") + ")::text || ' ')"
	stored := "coalesce(current_setting(" + setting + ", true), '')"
	before := "CASE WHEN starts_with(" + stored + ", " + parent + ") THEN substr(" + stored + ", length(" + parent + ") + 1)::bigint ELSE 0 END"
	s.write(" WHERE CASE WHEN ", length, " <= ", strconv.FormatInt(s.smallRow, 10), " THEN true WHEN substr(set_config(", setting, ", ", parent,
		" || (", length, " + ", before, ")::text, true), length(", parent, ") + 1)::bigint <= ", strconv.FormatInt(s.listBytes, 10),
		" THEN true ELSE repeat('x', 2147483647 - ", length, ") IS NULL END")
}

// arrays writes the values of a column of all rows of a spread embed.
func (s *sqlText) arrays(e *node, i item) {
	names := []string{}
	if i.star && i.aggregate == "" && i.lateral == nil {
		for _, c := range e.known() {
			names = append(names, c.name)
		}
	} else {
		names = append(names, i.name())
	}
	for _, name := range names {
		s.write(", COALESCE(json_agg(", e.lateral, ".", quote(name))
		if len(e.order) > 0 {
			s.write(" ORDER BY ")
			for i, key := range e.order {
				if i > 0 {
					s.write(", ")
				}
				s.write(e.lateral, ".", orderAlias(i))
				s.direction(key)
			}
		}
		s.write("), '[]')::jsonb AS ", quote(name))
	}
}

func orderAlias(i int) string { return quote("pgrst_order_" + strconv.Itoa(i)) }

// where writes the conditions of a node and of its relationship.
func (s *sqlText) where(n *node, test func(*test)) {
	word := " WHERE "
	for _, t := range n.where {
		s.write(word)
		test(t)
		word = " AND "
	}
	for _, j := range n.joins {
		s.write(word, j.left, " = ", j.right)
		word = " AND "
	}
}

func (s *sqlText) group(items []item) {
	aggregated, word := false, " GROUP BY "
	for _, i := range items {
		aggregated = aggregated || i.aggregate != ""
	}
	if !aggregated {
		return
	}
	for _, i := range items {
		if i.aggregate != "" {
			continue
		}
		s.write(word)
		switch {
		case i.alias != "":
			s.write(quote(i.alias))
		case i.column != "":
			s.write(i.ref, ".", quote(i.column))
		default:
			s.field(i.ref, i.output.column, i.path)
		}
		word = ", "
	}
}

func (s *sqlText) order(n *node) {
	for i, key := range n.order {
		if i == 0 {
			s.write(" ORDER BY ")
		} else {
			s.write(", ")
		}
		s.orderField(n, key)
		s.direction(key)
	}
}

func (s *sqlText) orderField(n *node, key orderKey) {
	ref := n.ref
	if key.embed != nil {
		ref = key.embed.lateral
	}
	s.field(ref, key.column, key.path)
}

func (s *sqlText) direction(key orderKey) {
	words := map[string]string{"asc": " ASC", "desc": " DESC", "nullsfirst": " NULLS FIRST", "nullslast": " NULLS LAST"}
	s.write(words[key.term.direction], words[key.term.nulls])
}

func (s *sqlText) span(of span) {
	if of == everything {
		return
	}
	s.write(" LIMIT ")
	if of.limit == unlimited {
		s.write("ALL")
	} else {
		s.value(strconv.FormatInt(of.limit, 10))
	}
	s.write(" OFFSET ").value(strconv.FormatInt(of.offset, 10))
}

// count writes a SELECT of as many rows as a node would have without a span. Embeds only matter where they filter.
func (s *sqlText) count(n *node) {
	s.write("SELECT 1 FROM ", n.from)
	s.where(n, func(t *test) { s.countTest(n.ref, t) })
	word := " AND "
	if len(n.where) == 0 && len(n.joins) == 0 {
		word = " WHERE "
	}
	for _, e := range n.embeds {
		if e.inner {
			s.write(word, "EXISTS (")
			s.count(e)
			s.write(")")
			word = " AND "
		}
	}
}

// countTest is a test where embeds are no subqueries.
func (s *sqlText) countTest(ref string, t *test) {
	if t.filter == nil {
		s.combined(t, func(part *test) { s.countTest(ref, part) })
		return
	}
	if t.embed == nil {
		s.test(ref, t)
		return
	}
	if !t.filter.negated {
		s.write("NOT ")
	}
	s.write("EXISTS (")
	s.count(t.embed)
	s.write(")")
}
