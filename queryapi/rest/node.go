package rest

import (
	"net/http"
	"slices"
)

// A node is a relation, or the result of a function, of which rows are read: the one of the request, or an embed.
type node struct {
	relation     *relation // nil: the result of a function that is none
	results      []*column // of such a function
	name, alias  string    // of an embed, as the request has them
	hint         string
	inner        bool
	spread       bool // its columns become those of its parent
	depth        int
	relationship *relationship // from the parent; nil: the node of the request

	label   string // what PostgreSQL calls it in messages
	ref     string // SQL before the names of its columns
	from    string // SQL of what is read
	lateral string // name of the subquery of an embed
	number  int    // of that subquery

	parentKey []string // SQL of what tells the parent's rows apart
	joins     []join   // to the parent

	chosen     []selectColumn // as the request has them …
	conditions []condition
	orderTerms []orderTerm
	outputs    []output // … and as they were found
	where      []*test
	order      []orderKey
	span       span
	embeds     []*node
}

// join is an equation between two columns, both SQL.
type join struct{ left, right string }

// An output is one column of a result.
type output struct {
	star                           bool // all columns, or of an aggregate: the row
	column                         *column
	path                           []jsonStep
	alias                          string // "" is the column's name
	cast, aggregate, aggregateCast string
}

// A test is a condition whose names were found.
type test struct {
	negated, or bool
	parts       []*test

	filter *filter // nil: parts are combined
	column *column
	embed  *node // whose absence is tested
}

// columns appends the columns that a test looks at.
func (t *test) columns(to []*column) []*column {
	if t.column != nil {
		to = append(to, t.column)
	}
	for _, part := range t.parts {
		to = part.columns(to)
	}
	return to
}

// An orderKey is what rows are sorted by.
type orderKey struct {
	column *column
	path   []jsonStep
	embed  *node // whose column it is; nil: the node's own
	term   orderTerm
}

const sourceName = "pgrst_source"

// source lets a node read what a statement wrote or a function returned, under a label.
func (n *node) source(label string) {
	n.label, n.ref, n.from = label, quote(label), quote(sourceName)+" AS "+quote(label)
}

// grow adds what a selection wants.
func (n *node) grow(s selection, maxRows *int64) {
	n.chosen = s.columns
	for _, e := range s.embeds {
		child := &node{name: e.name, alias: e.alias, hint: e.hint, inner: e.inner, spread: e.spread, depth: n.depth + 1, span: everything.capped(maxRows)}
		child.grow(e.selection, maxRows)
		n.embeds = append(n.embeds, child)
	}
}

// key is the name that an embed has in the result.
func (n *node) key() string {
	if n.alias != "" {
		return n.alias
	}
	return n.name
}

// at does something to the embed at a path, which then stands before others in the result.
func (n *node) at(path []string, do func(*node)) *Error {
	if len(path) == 0 {
		do(n)
		return nil
	}
	for i, e := range n.embeds {
		if e.name == path[0] || e.alias == path[0] {
			n.embeds = slices.Insert(slices.Delete(n.embeds, i, i+1), 0, e)
			return e.at(path[1:], do)
		}
	}
	return notEmbedded(path[0])
}

func notEmbedded(name string) *Error {
	return refuse(http.StatusBadRequest, "PGRST108", "'"+name+"' is not an embedded resource in this request").
		hinted("Verify that '" + name + "' is included in the 'select' query parameter.")
}

// toOneSpread is whether a node gives its parent single values.
func (n *node) toOneSpread() bool { return n.spread && n.relationship.toOne() }

// toManySpread is whether a node gives its parent arrays of values.
func (n *node) toManySpread() bool { return n.spread && !n.relationship.toOne() }

// empty is whether an embed shows nothing, and only filters.
func (n *node) empty() bool {
	if len(n.chosen) > 0 {
		return false
	}
	for _, e := range n.embeds {
		if !e.empty() {
			return false
		}
	}
	return true
}

// name is that of an output in the result.
func (o output) name() string {
	switch {
	case o.alias != "":
		return o.alias
	case o.star && o.aggregate != "":
		return "count"
	}
	return o.column.name
}
