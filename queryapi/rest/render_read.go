package rest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// read writes the SELECT of a node and, as lateral subqueries, of its embeds.
func (s *sqlText) read(n *node) {
	items := n.items()
	s.write("SELECT ")
	list(s, ", ", items, func(i item) { s.item(i) })
	if n.spreadsMany() {
		for i, term := range n.order {
			s.write(", ")
			s.orderField(n, term)
			s.write(" AS ", orderAlias(i))
		}
	}
	s.write(" FROM ", n.from)
	for _, e := range n.embeds {
		s.join(e)
	}
	s.where(n, false)
	s.group(items)
	for i, term := range n.order {
		s.write(separator(i, " ORDER BY ", ", "))
		s.orderField(n, term)
		s.direction(term)
	}
	s.rows(n.rows)
}

// separator returns first before the first item of a list, else next.
func separator(i int, first, next string) string {
	if i == 0 {
		return first
	}
	return next
}

// An item is an entry of a SELECT's list.
type item struct {
	selectColumn
	ref    string // SQL before the column
	nested *node  // whose rows it is, as JSON; nil: a column
	source string // the column of the subquery ref; "": that of selectColumn
}

func (c selectColumn) star() bool { return c.name == "*" }

// key returns the name of an item in the result.
func (i item) key() string {
	switch {
	case i.alias != "":
		return i.alias
	case i.source != "":
		return i.source
	}
	return i.selectColumn.key()
}

func (c selectColumn) key() string {
	switch {
	case c.alias != "":
		return c.alias
	case c.star() && c.aggregate != "":
		return "count"
	}
	return c.name
}

// items returns the list of a node's SELECT: its columns, then its embeds.
func (n *node) items() []item {
	var items []item
	columns := n.columns
	if len(columns) == 0 && len(n.embeds) == 0 {
		columns = []selectColumn{{field: field{name: "*"}}}
	}
	grouped := n.grouped()
	for _, c := range columns {
		switch {
		case n.spreadsOne() && c.aggregate != "": // its parent aggregates
			if c.star() {
				c.alias = c.key()
			}
			c.aggregate, c.aggregateCast = "", ""
		case c.star() && c.aggregate == "" && grouped:
			for _, column := range n.allColumns() {
				c := selectColumn{field: field{name: column.name, column: column}}
				items = append(items, item{selectColumn: c, ref: n.ref})
			}
			continue
		}
		items = append(items, item{selectColumn: c, ref: n.ref})
	}
	for _, e := range n.embeds {
		switch {
		case e.spread:
			for _, i := range e.spreadItems() {
				if n.spreadsOne() {
					i.aggregate, i.aggregateCast, i.alias = "", "", ""
				}
				items = append(items, i)
			}
		case !e.empty():
			items = append(items, item{selectColumn: selectColumn{alias: e.key()}, nested: e})
		}
	}
	return items
}

// grouped reports whether aggregates combine the rows of a node.
func (n *node) grouped() bool {
	return !n.spreadsOne() && (n.aggregates() ||
		slices.ContainsFunc(n.embeds, func(e *node) bool { return e.spread && e.hoistsAggregates() }))
}

// spreadItems returns the items of a parent that come from n, whose columns become its own.
func (n *node) spreadItems() []item {
	var items []item
	add := func(c selectColumn, source string) {
		items = append(items, item{selectColumn: c, ref: n.lateral, source: source})
	}
	for _, c := range n.columns {
		switch {
		case c.star() && c.aggregate == "":
			for _, column := range n.allColumns() {
				add(selectColumn{}, column.name)
			}
		case n.spreadsMany():
			add(selectColumn{}, c.key())
		default:
			add(selectColumn{alias: c.alias, aggregate: c.aggregate, aggregateCast: c.aggregateCast}, c.key())
		}
	}
	for _, e := range n.embeds {
		switch {
		case e.spread:
			for _, i := range e.spreadItems() {
				add(i.selectColumn, i.source)
			}
		case !e.empty():
			add(selectColumn{}, e.key())
		}
	}
	return items
}

func (s *sqlText) item(i item) {
	switch n := i.nested; {
	case n == nil:
		s.column(i)
	case n.relationship.toOne():
		s.write("row_to_json(", n.lateral, ".*)::jsonb")
	default:
		s.write("COALESCE(", n.lateral, ".", n.lateral, ", '[]')")
	}
	if i.alias != "" {
		s.write(" AS ", quote(i.alias))
	}
}

// column writes CAST(AGGREGATE(CAST(column AS type)) AS type).
func (s *sqlText) column(i item) {
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
	case i.source != "":
		s.write(i.ref, ".", quote(i.source))
	case i.star() && i.alias != "" && i.aggregate == "":
		s.write(i.ref) // the row
	case i.star():
		s.write(i.ref, ".*")
	default:
		s.field(i.ref, i.field)
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
			s.arrays(e)
		}
		s.write(" FROM (")
		s.read(e)
		s.write(") AS ", e.lateral)
		s.boundList(e)
		if e.inner {
			on = e.lateral + " IS NOT NULL"
		}
	}
	s.write(") AS ", e.lateral, " ON ", on)
}

// boundList ends the statement, with SQLSTATE 54000, when an embedded list has more bytes than a body may have: it
// becomes one value, which PostgreSQL would hold in memory several times over. A setting has the list's parent and its
// bytes so far. Small rows, of which a full list fits, are not counted, so that most requests pay for their length
// alone.
func (s *sqlText) boundList(e *node) {
	if s.maxBytes == 0 {
		return
	}
	length := "octet_length(" + e.lateral + "::text)"
	setting := "'pgrst.list_" + strconv.Itoa(e.number) + "'"
	parent := "(ROW(" + strings.Join(e.parentKey, ", ") + ")::text || ' ')"
	stored := "coalesce(current_setting(" + setting + ", true), '')"
	before := "CASE WHEN starts_with(" + stored + ", " + parent + ") THEN substr(" + stored + ", length(" + parent +
		") + 1)::bigint ELSE 0 END"
	sum := "set_config(" + setting + ", " + parent + " || (" + length + " + " + before + ")::text, true)"
	s.write(" WHERE CASE WHEN ", length, " <= ", strconv.FormatInt(s.smallRow, 10), " THEN true",
		" WHEN substr(", sum, ", length(", parent, ") + 1)::bigint <= ", strconv.FormatInt(s.listBytes, 10),
		" THEN true ELSE repeat('x', 2147483647 - ", length, ") IS NULL END")
}

// arrays writes an array for each column of a spread embed.
func (s *sqlText) arrays(e *node) {
	var names []string
	for _, i := range e.items() {
		if i.star() && i.aggregate == "" && i.nested == nil {
			names = append(names, columnNames(e.allColumns())...)
		} else {
			names = append(names, i.key())
		}
	}
	for _, name := range names {
		s.write(", COALESCE(json_agg(", e.lateral, ".", quote(name))
		for i, term := range e.order {
			s.write(separator(i, " ORDER BY ", ", "), e.lateral, ".", orderAlias(i))
			s.direction(term)
		}
		s.write("), '[]')::jsonb AS ", quote(name))
	}
}

func orderAlias(i int) string { return quote("pgrst_order_" + strconv.Itoa(i)) }

// where writes the conditions of a node and of its relationship.
func (s *sqlText) where(n *node, counting bool) {
	for i, c := range n.where {
		s.write(separator(i, " WHERE ", " AND "))
		s.condition(n.ref, c, counting)
	}
	for i, j := range n.joins {
		s.write(separator(len(n.where)+i, " WHERE ", " AND "), j.left, " = ", j.right)
	}
}

func (s *sqlText) group(items []item) {
	if !slices.ContainsFunc(items, func(i item) bool { return i.aggregate != "" }) {
		return
	}
	grouping := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.aggregate != "" })
	for n, i := range grouping {
		s.write(separator(n, " GROUP BY ", ", "))
		switch {
		case i.alias != "":
			s.write(quote(i.alias))
		case i.source != "":
			s.write(i.ref, ".", quote(i.source))
		default:
			s.field(i.ref, i.field)
		}
	}
}

func (s *sqlText) orderField(n *node, term orderTerm) {
	ref := n.ref
	if term.embed != nil {
		ref = term.embed.lateral
	}
	s.field(ref, term.field)
}

func (s *sqlText) direction(term orderTerm) {
	words := map[string]string{"asc": " ASC", "desc": " DESC", "nullsfirst": " NULLS FIRST", "nullslast": " NULLS LAST"}
	s.write(words[term.direction], words[term.nulls])
}

func (s *sqlText) rows(r rowRange) {
	if r == allRows {
		return
	}
	s.write(" LIMIT ")
	if r.limit == unlimited {
		s.write("ALL")
	} else {
		s.value(strconv.FormatInt(r.limit, 10))
	}
	s.write(" OFFSET ").value(strconv.FormatInt(r.offset, 10))
}

// count writes a SELECT of as many rows as a node has without its range. It reads the embeds that filter.
func (s *sqlText) count(n *node) {
	s.write("SELECT 1 FROM ", n.from)
	s.where(n, true)
	conditions := len(n.where) + len(n.joins)
	for _, e := range n.embeds {
		if e.inner {
			s.write(separator(conditions, " WHERE ", " AND "), "EXISTS (")
			s.count(e)
			s.write(")")
			conditions++
		}
	}
}

// explain returns the statement that asks for the planner's number of rows; nil where the request needs none.
func (p *plan) explain(casts map[string]string) *sqlText {
	if p.action != actionRead || p.prefer.count != "planned" && p.prefer.count != "estimated" {
		return nil
	}
	s := &sqlText{casts: casts}
	s.write("EXPLAIN (FORMAT JSON) ")
	s.count(p.read)
	return s
}

func plannedRows(row [][]byte) (int64, error) {
	var explained []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(row[0], &explained); err != nil {
		return 0, err
	}
	return explained[0].Plan.Rows, nil
}

// estimateTotal sets the planner's total where the request wants it. An estimate counts up to maxRows, and is the
// planner's total where there are more rows, or no such bound.
func (p *plan) estimateTotal(r *result, planned int64) {
	over := p.prefer.count == "estimated" && (p.maxRows == nil || r.total > *p.maxRows)
	if p.action == actionRead && (p.prefer.count == "planned" || over) {
		r.total = max(r.total, planned)
	}
}
