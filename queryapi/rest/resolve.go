package rest

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// resolve finds the columns that a node and its embeds name.
func (p *planner) resolve(n *node) *Error {
	for _, e := range n.embeds {
		if err := p.resolve(e); err != nil {
			return err
		}
	}
	for _, c := range n.chosen {
		o := output{star: c.name == "*", path: c.path, alias: c.alias, cast: c.cast, aggregate: c.aggregate, aggregateCast: c.aggregateCast}
		if o.aggregate == "" {
			o.aggregateCast = "" // id::text::int is id::text
		}
		if !o.star {
			var err *Error
			if o.column, err = n.column(c.name); err != nil {
				return err
			}
		}
		if o.alias == "" && o.aggregate == "" && len(o.path) > 0 {
			o.alias = lastKey(c.field)
		}
		for _, cast := range []string{o.cast, o.aggregateCast} {
			if cast != "" && !slices.Contains(p.casts, cast) {
				p.casts = append(p.casts, cast)
			}
		}
		n.outputs = append(n.outputs, o)
	}
	if err := p.resolveWhere(n); err != nil {
		return err
	}
	for i := range n.order {
		key, of := &n.order[i], n
		if key.embed != nil {
			of = key.embed
		}
		var err *Error
		if key.column, err = of.column(key.term.name); err != nil {
			return err
		}
	}
	return nil
}

// lastKey is the name of a part of JSON: the last key of its path, or the column's.
func lastKey(f field) string {
	for _, step := range slices.Backward(f.path) {
		if !step.index {
			return step.key
		}
	}
	return f.name
}

func (p *planner) resolveWhere(n *node) *Error {
	for _, c := range n.conditions {
		t, err := n.test(c)
		if err != nil {
			return err
		}
		n.where = append(n.where, t)
	}
	return nil
}

func (n *node) test(c condition) (*test, *Error) {
	t := &test{negated: c.negated, or: c.or, filter: c.filter}
	for _, part := range c.parts {
		found, err := n.test(part)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, found)
	}
	if c.filter == nil {
		return t, nil
	}
	if c.filter.operator == "is" && c.filter.value == "null" && len(c.filter.path) == 0 {
		for _, e := range n.embeds {
			if e.key() == c.filter.name {
				t.embed = e
				return t, nil
			}
		}
	}
	var err *Error
	t.column, err = n.column(c.filter.name)
	return t, err
}

// column finds a column of a node.
func (n *node) column(name string) (*column, *Error) {
	if n.relation == nil {
		for _, c := range n.results {
			if c.name == name {
				return c, nil
			}
		}
		return nil, unknownColumn(n.label, name, n.results)
	}
	if c := n.relation.byName[name]; c != nil {
		return c, nil
	}
	return nil, unknownColumn(n.label, name, n.relation.columns)
}

// unknownColumn is the answer that PostgreSQL would give: a column that is not in the cache is in no statement.
func unknownColumn(label, name string, columns []*column) *Error {
	const far = 4
	best, near := far, []string{}
	for _, c := range columns {
		distance := levenshtein.ComputeDistance(c.name, name)
		if distance > len(name)/2 || distance > best || distance >= far {
			continue
		}
		if distance < best {
			best, near = distance, nil
		}
		near = append(near, `the column "`+label+"."+c.name+`"`)
	}
	e := refuse(statusBadRequest, "42703", "column "+label+"."+name+" does not exist")
	if len(near) == 0 || len(near) > 2 {
		return e
	}
	return e.hinted("Perhaps you meant to reference " + strings.Join(near, " or ") + ".")
}

// How alike a name must be to be proposed, of 1.
const (
	sureOfName = 0.75 // names may reveal what the caller is not to see
	likely     = 0.33
)

// nearest is the name that is most like another one; "" when none is alike enough.
func nearest(name string, names []string, least float64) string {
	slices.Sort(names)
	best, most := "", 0.0
	for _, known := range names {
		a, b := strings.ToLower(name), strings.ToLower(known)
		longest := max(len([]rune(a)), len([]rune(b)), 1)
		if like := 1 - float64(levenshtein.ComputeDistance(a, b))/float64(longest); like >= least && like > most {
			best, most = known, like
		}
	}
	return best
}
