package rest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
)

type cardinality int

// PostgREST lists relationships between two relations in this order.
const (
	oneToMany cardinality = iota
	manyToOne
	oneToOne
	manyToMany
)

var cardinalities = [...]string{"one-to-many", "many-to-one", "one-to-one", "many-to-many"}

// A relationship leads from the rows of a relation to rows of another one.
type relationship struct {
	from, to    *relation
	cardinality cardinality
	constraint  string // the foreign key; "": a function, or a junction
	columns     []columnPair
	junction    *junction
	function    *qualified // that returns the rows
	one         bool       // the function returns one row
}

// columnPair is a column of from and the equal one of to.
type columnPair struct{ from, to *column }

// A junction is a table whose foreign keys lead to both relations of a relationship.
type junction struct {
	table                  *relation
	source, target         string       // constraints
	sourceCols, targetCols []columnPair // from a relation's column to the junction's
}

func (r *relationship) toOne() bool {
	return r.one || r.function == nil && (r.cardinality == manyToOne || r.cardinality == oneToOne)
}

func (r *relationship) self() bool { return r.from == r.to }

// A constraint is a primary, unique or foreign key.
type constraint struct {
	name, kind      string // p, u or f
	table, other    int64
	columns, others []int16
}

func (l *loader) loadRelationships(ctx context.Context) error {
	var row constraint
	var constraints []constraint
	targets := []any{&row.name, &row.kind, &row.table, &row.other, &row.columns, &row.others}
	if err := l.each(ctx, "constraints", nil, targets, func() { constraints = append(constraints, row) }); err != nil {
		return err
	}
	origins, err := l.viewColumns(ctx)
	if err != nil {
		return err
	}
	l.setKeys(constraints, origins)
	unique := map[int64][][]int16{}
	for _, c := range constraints {
		if c.kind != "f" {
			unique[c.table] = append(unique[c.table], slices.Sorted(slices.Values(c.columns)))
		}
	}
	var list []*relationship
	for _, c := range constraints {
		if c.kind != "f" || l.byOID[c.table] == nil || l.byOID[c.other] == nil {
			continue
		}
		kind := manyToOne
		columns := slices.Sorted(slices.Values(c.columns))
		if slices.ContainsFunc(unique[c.table], func(key []int16) bool { return slices.Equal(key, columns) }) {
			kind = oneToOne
		}
		list = append(list, l.foreignKey(c, kind, origins)...)
	}
	for _, r := range slices.Clone(list) {
		list = append(list, r.inverse())
	}
	for _, r := range append(list, junctions(list)...) {
		l.relationships[r.from.qualified] = append(l.relationships[r.from.qualified], r)
	}
	return nil
}

// A side is a table or view with the columns that show a key.
type side struct {
	relation *relation
	columns  []*column
}

// foreignKey returns the relationships of a foreign key: between its tables, and views that have its columns.
func (l *loader) foreignKey(c constraint, kind cardinality, origins viewOrigins) (list []*relationship) {
	for _, from := range l.sides(c.table, c.columns, origins) {
		for _, to := range l.sides(c.other, c.others, origins) {
			r := &relationship{from: from.relation, to: to.relation, cardinality: kind, constraint: c.name}
			for i := range from.columns {
				r.columns = append(r.columns, columnPair{from.columns[i], to.columns[i]})
			}
			list = append(list, r)
		}
	}
	return list
}

// sides returns a table and all views that show these columns of it, once for each choice of columns that do.
func (l *loader) sides(oid int64, numbers []int16, origins viewOrigins) []side {
	table := l.byOID[oid]
	list := []side{{relation: table}}
	for _, n := range numbers {
		list[0].columns = append(list[0].columns, table.byNumber[n])
	}
	for _, view := range origins.views {
		choices := []side{{relation: view}}
		for _, n := range numbers {
			var next []side
			for _, choice := range choices {
				for _, c := range origins.columns[view][origin{oid, n}] {
					next = append(next, side{view, append(slices.Clip(choice.columns), c)})
				}
			}
			choices = next
		}
		list = append(list, choices...)
	}
	return list
}

// inverse returns the relationship from the other side.
func (r *relationship) inverse() *relationship {
	inverse := &relationship{from: r.to, to: r.from, cardinality: oneToMany, constraint: r.constraint}
	if r.cardinality == oneToOne {
		inverse.cardinality = oneToOne
	}
	for _, pair := range r.columns {
		inverse.columns = append(inverse.columns, columnPair{pair.to, pair.from})
	}
	return inverse
}

// junctions returns the many-to-many relationships: a relation whose primary key holds two foreign keys.
func junctions(foreignKeys []*relationship) (list []*relationship) {
	byTable := map[*relation][]*relationship{}
	for _, r := range foreignKeys {
		if r.cardinality == manyToOne {
			byTable[r.from] = append(byTable[r.from], r)
		}
	}
	inKey := func(r *relationship) bool {
		return !slices.ContainsFunc(r.columns, func(p columnPair) bool { return !slices.Contains(r.from.key, p.from) })
	}
	for table, keys := range byTable {
		keys = slices.DeleteFunc(keys, func(r *relationship) bool { return !inKey(r) })
		for _, source := range keys {
			for _, target := range keys {
				if source.constraint == target.constraint {
					continue
				}
				j := &junction{
					table: table, source: source.constraint, target: target.constraint,
					sourceCols: source.inverse().columns, targetCols: target.inverse().columns,
				}
				list = append(list, &relationship{from: source.to, to: target.to, cardinality: manyToMany, junction: j})
			}
		}
	}
	return list
}

// setKeys sets the primary keys of tables, and of views the columns that show one.
func (l *loader) setKeys(constraints []constraint, origins viewOrigins) {
	for _, c := range constraints {
		table := l.byOID[c.table]
		if c.kind != "p" || table == nil {
			continue
		}
		for _, n := range slices.Sorted(slices.Values(c.columns)) {
			table.key = append(table.key, table.byNumber[n])
		}
		for _, view := range origins.views {
			var key []*column
			for _, n := range c.columns {
				if columns := origins.columns[view][origin{c.table, n}]; len(columns) > 0 {
					key = append(key, columns[0])
				}
			}
			if len(key) == len(c.columns) {
				view.key = append(view.key, key...)
				slices.SortFunc(view.key, func(a, b *column) int {
					return slices.Index(view.columns, a) - slices.Index(view.columns, b)
				})
			}
		}
	}
}

// loadComputed finds functions of one row of a relation: computed columns, and relationships to the rows they return.
func (l *loader) loadComputed(ctx context.Context) error {
	var name qualified
	var from, to int64
	var set, one bool
	var typ string
	computed := map[qualified][]*relationship{}
	schemas := append(slices.Clone(l.cfg.Schemas), l.cfg.SearchPath...)
	targets := []any{&name.schema, &name.name, &from, &to, &set, &one, &typ}
	err := l.each(ctx, "computed", []any{schemas}, targets, func() {
		source := l.byOID[from]
		if source == nil {
			return
		}
		if target := l.byOID[to]; target != nil {
			function := name
			r := &relationship{from: source, to: target, function: &function, one: one}
			computed[source.qualified] = append(computed[source.qualified], r)
		}
		if _, taken := source.byName[name.name]; !set && !taken {
			source.byName[name.name] = &column{name: name.name, typ: typ}
		}
	})
	if err != nil {
		return err
	}
	for from, list := range computed {
		// A function replaces the relationships to a relation of its name.
		others := slices.DeleteFunc(l.relationships[from], func(r *relationship) bool {
			return slices.ContainsFunc(list, func(c *relationship) bool { return *c.function == r.to.qualified })
		})
		l.relationships[from] = append(others, list...)
	}
	for _, list := range l.relationships {
		slices.SortStableFunc(list, byOrderOfPostgREST)
	}
	return nil
}

func byOrderOfPostgREST(a, b *relationship) int {
	return cmp.Or(
		strings.Compare(a.to.schema, b.to.schema), strings.Compare(a.to.name, b.to.name),
		int(a.cardinality)-int(b.cardinality), strings.Compare(a.constraint, b.constraint),
		slices.CompareFunc(a.columns, b.columns, func(x, y columnPair) int {
			return cmp.Or(strings.Compare(x.from.name, y.from.name), strings.Compare(x.to.name, y.to.name))
		}),
		compareJunctions(a.junction, b.junction),
	)
}

func compareJunctions(a, b *junction) int {
	if a == nil || b == nil {
		return 0
	}
	return cmp.Or(strings.Compare(a.table.schema, b.table.schema), strings.Compare(a.table.name, b.table.name),
		strings.Compare(a.source, b.source), strings.Compare(a.target, b.target))
}

// An origin is a column of a table, by numbers of the catalog.
type origin struct {
	relation int64
	number   int16
}

// viewOrigins has the columns of views that show columns of tables.
type viewOrigins struct {
	views   []*relation // in the order of their names
	columns map[*relation]map[origin][]*column
}

// viewColumns traces the columns of views to columns of tables, through other views too.
func (l *loader) viewColumns(ctx context.Context) (viewOrigins, error) {
	v := viewOrigins{columns: map[*relation]map[origin][]*column{}}
	var oid int64
	var tree string
	byView := map[int64][]shownColumn{}
	schemas := append(slices.Clone(l.cfg.Schemas), l.cfg.SearchPath...)
	err := l.each(ctx, "views", []any{schemas}, []any{&oid, &tree}, func() { byView[oid] = shownColumns(tree) })
	if err != nil {
		return v, err
	}
	for oid, columns := range byView {
		view := l.byOID[oid]
		if view == nil {
			continue
		}
		v.views = append(v.views, view)
		v.columns[view] = map[origin][]*column{}
		for _, c := range columns {
			from := c.origin
			for range len(byView) { // a chain of views is no longer
				below := byView[from.relation]
				i := slices.IndexFunc(below, func(c shownColumn) bool { return c.number == from.number })
				if i < 0 {
					break
				}
				from = below[i].origin
			}
			if column := view.byNumber[c.number]; column != nil {
				v.columns[view][from] = append(v.columns[view][from], column)
			}
		}
	}
	slices.SortFunc(v.views, func(a, b *relation) int {
		return strings.Compare(a.schema+"."+a.name, b.schema+"."+b.name)
	})
	return v, nil
}

// A shownColumn is a column of a view and the column that it shows unchanged.
type shownColumn struct {
	number int16
	origin origin
}

// shownColumns reads the parse tree of a view, as in the catalog: ({QUERY … :targetList ({TARGETENTRY … :resno 1
// … :resorigtbl 16390 :resorigcol 2 …} …) …}). Only the entries of the view itself lie four brackets deep.
func shownColumns(tree string) []shownColumn {
	const entryDepth = 4
	var columns []shownColumn
	var entry shownColumn
	var label string // of the next token
	depth, inEntry := 0, false
	for token := range tokens(tree) {
		switch {
		case token == "(" || token == "{":
			depth++
			inEntry = inEntry && depth > entryDepth
			label = token
		case token == ")" || token == "}":
			if depth == entryDepth && inEntry && entry.origin.relation != 0 {
				columns = append(columns, entry)
			}
			inEntry = inEntry && depth > entryDepth
			depth--
		case depth == entryDepth && label == "{":
			inEntry, entry, label = token == "TARGETENTRY", shownColumn{}, ""
		case depth == entryDepth && inEntry && strings.HasPrefix(token, ":"):
			label = token
		case depth == entryDepth && inEntry:
			n, _ := strconv.ParseInt(token, 10, 64) // other labels have no numbers, and are not used
			switch label {
			case ":resno":
				entry.number = int16(n)
			case ":resorigtbl":
				entry.origin.relation = n
			case ":resorigcol":
				entry.origin.number = int16(n)
			}
			label = ""
		default:
			label = ""
		}
	}
	return columns
}

// tokens iterates over the brackets and words of a parse tree. A backslash protects the next character.
func tokens(tree string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(tree); i++ {
			c := tree[i]
			if c == '\\' {
				i++
				continue
			}
			if !strings.ContainsRune(" \n(){}", rune(c)) {
				continue
			}
			if i > from && !yield(tree[from:i]) {
				return
			}
			if from = i + 1; c != ' ' && c != '\n' && !yield(string(c)) {
				return
			}
		}
	}
}
