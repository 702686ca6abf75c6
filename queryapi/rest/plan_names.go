package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/internal/problem"
)

// resolve finds the columns that a node and its embeds name.
func (p *planner) resolve(n *node) error {
	for _, e := range n.embeds {
		if err := p.resolve(e); err != nil {
			return err
		}
	}
	for i := range n.columns {
		if err := p.resolveSelected(n, &n.columns[i]); err != nil {
			return err
		}
	}
	if err := n.resolveConditions(n.where); err != nil {
		return err
	}
	for i := range n.order {
		term := &n.order[i]
		find := n.findColumn
		if term.embed != nil {
			find = term.embed.findResultColumn
		}
		var err error
		if term.column, err = find(term.name); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) resolveSelected(n *node, c *selectColumn) error {
	if c.aggregate == "" {
		c.aggregateCast = "" // id::text::int is id::text
	}
	if !c.star() {
		var err error
		if c.column, err = n.findColumn(c.name); err != nil {
			return err
		}
	}
	if c.alias == "" && c.aggregate == "" && len(c.path) > 0 {
		c.alias = c.lastKey()
	}
	for _, cast := range []string{c.cast, c.aggregateCast} {
		if cast != "" && !slices.Contains(p.casts, cast) {
			p.casts = append(p.casts, cast)
		}
	}
	return nil
}

// lastKey returns the name of a part of JSON: the last key of its path, else the column's.
func (f field) lastKey() string {
	for _, step := range slices.Backward(f.path) {
		if !step.index {
			return step.key
		}
	}
	return f.name
}

// resolveConditions finds the columns, and the embeds whose rows are tested.
func (n *node) resolveConditions(conditions []condition) error {
	for i := range conditions {
		c := &conditions[i]
		if c.filter == nil {
			if err := n.resolveConditions(c.parts); err != nil {
				return err
			}
			continue
		}
		if c.operator == "is" && c.value == "null" && len(c.path) == 0 {
			if e := n.findEmbed(c.name); e != nil {
				c.embed = e
				continue
			}
		}
		var err error
		if c.column, err = n.findColumn(c.name); err != nil {
			return err
		}
	}
	return nil
}

// findEmbed returns the embed of a name in the result, nil if there is none.
func (n *node) findEmbed(key string) *node {
	for _, e := range n.embeds {
		if e.key() == key {
			return e
		}
	}
	return nil
}

// rowCount is the column count, without brackets, of a relation that has no such column: PostgreSQL takes it for a
// function of the row. Clients write relation(count), also where aggregates are forbidden.
var rowCount = &column{name: "count", typ: "bigint"}

func (n *node) findColumn(name string) (*column, error) {
	if n.relation != nil && n.relation.byName[name] != nil {
		return n.relation.byName[name], nil
	}
	if c := columnNamed(n.allColumns(), name); c != nil {
		return c, nil
	}
	if name == rowCount.name {
		return rowCount, nil
	}
	return nil, columnNotFound(n.label, name, n.allColumns())
}

// findResultColumn finds a column of an embed's result, by which its parent is sorted: also an alias, or an embed.
func (n *node) findResultColumn(name string) (*column, error) {
	var columns []*column
	for _, i := range n.items() {
		if i.star() && i.aggregate == "" {
			columns = append(columns, n.allColumns()...)
		} else {
			columns = append(columns, &column{name: i.key()})
		}
	}
	if c := columnNamed(columns, name); c != nil {
		return c, nil
	}
	return nil, columnNotFound(n.relationship.from.name+"_"+n.key()+"_"+strconv.Itoa(n.depth), name, columns)
}

// allColumns returns the columns that * stands for.
func (n *node) allColumns() []*column {
	if n.relation != nil {
		return n.relation.columns
	}
	return n.results
}

// columnNamed returns the first column of a name, nil if there is none.
func columnNamed(columns []*column, name string) *column {
	for _, c := range columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

func columnNames(columns []*column) (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// columnNotFound returns the error of PostgreSQL: no statement names a column that is not in the cache.
func columnNotFound(label, name string, columns []*column) error {
	const most = 3 // edits
	e := badRequest("42703", "column "+label+"."+name+" does not exist")
	near := problem.Nearest(name, columnNames(columns), min(most, len(name)/2))
	if len(near) == 0 || len(near) > 2 {
		return e
	}
	for i, name := range near {
		near[i] = `the column "` + label + "." + name + `"`
	}
	return e.hinted("Perhaps you meant to reference " + strings.Join(near, " or ") + ".")
}

// How similar a name must be to be proposed, of 1.
const (
	verySimilar = 0.75 // a name may be none that the caller may see
	similar     = 0.33
)

// relationNotFound refuses a relation that is not exposed, and proposes another one.
func (s *schemaCache) relationNotFound(name qualified) error {
	e := refuse(http.StatusNotFound, "PGRST205",
		"Could not find the table '"+name.schema+"."+name.name+"' in the schema cache")
	if near := problem.Similar(name.name, namesIn(s.relations, name.schema), verySimilar); near != "" {
		e.hint = "Perhaps you meant the table '" + name.schema + "." + near + "'"
	}
	return e
}

// namesIn returns the names of a map's keys in a schema.
func namesIn[V any](entries map[qualified]V, schema string) (names []string) {
	for name := range entries {
		if name.schema == schema {
			names = append(names, name.name)
		}
	}
	return names
}
