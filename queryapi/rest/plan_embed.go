package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/internal/problem"
)

func (n *node) addSelection(s selection, maxRows *int64) {
	n.columns = s.columns
	for _, e := range s.embeds {
		child := &node{
			name: e.name, alias: e.alias, hint: e.hint, inner: e.inner, spread: e.spread,
			depth: n.depth + 1, rows: allRows.atMost(maxRows),
		}
		child.addSelection(e.selection, maxRows)
		n.embeds = append(n.embeds, child)
	}
}

// key returns the name that an embed has in the result.
func (n *node) key() string {
	if n.alias != "" {
		return n.alias
	}
	return n.name
}

// withEmbed calls change with the embed at path, and moves it before the other embeds.
func (n *node) withEmbed(path []string, change func(*node)) error {
	if len(path) == 0 {
		change(n)
		return nil
	}
	for i, e := range n.embeds {
		if e.name == path[0] || e.alias == path[0] {
			n.embeds = slices.Insert(slices.Delete(n.embeds, i, i+1), 0, e)
			return e.withEmbed(path[1:], change)
		}
	}
	return notEmbedded(path[0])
}

func notEmbedded(name string) *Error {
	return badRequest("PGRST108", "'"+name+"' is not an embedded resource in this request").
		hinted("Verify that '" + name + "' is included in the 'select' query parameter.")
}

// spreadsOne reports whether a node gives its parent single values.
func (n *node) spreadsOne() bool { return n.relationship != nil && n.spread && n.relationship.toOne() }

// spreadsMany reports whether a node gives its parent arrays of values.
func (n *node) spreadsMany() bool {
	return n.relationship != nil && n.spread && !n.relationship.toOne()
}

// empty reports whether an embed shows nothing, and only filters.
func (n *node) empty() bool {
	return len(n.columns) == 0 && !slices.ContainsFunc(n.embeds, func(e *node) bool { return !e.empty() })
}

// link finds the relationships of the embeds of a node.
func (p *planner) link(n *node) error {
	for _, e := range n.embeds {
		r, err := p.findRelationship(n, e)
		if err != nil {
			return err
		}
		e.follow(r, n)
		p.laterals++
		e.number, e.lateral = p.laterals, quote("pgrst_"+strconv.Itoa(p.laterals))
		if !r.toOne() {
			p.lists++
		}
		if err := p.link(e); err != nil {
			return err
		}
	}
	return nil
}

// follow makes n the relation at the end of a relationship.
func (n *node) follow(r *relationship, parent *node) {
	n.relationship, n.relation = r, r.to
	n.label = r.to.name + "_" + strconv.Itoa(n.depth)
	n.ref = quote(n.label)
	n.from = r.to.sql() + " AS " + n.ref
	joinParent := func(ref string, pairs []columnPair) {
		for _, pair := range pairs {
			key := parent.ref + "." + quote(pair.from.name)
			n.joins = append(n.joins, join{ref + "." + quote(pair.to.name), key})
			n.parentKey = append(n.parentKey, key)
		}
	}
	switch {
	case r.function != nil:
		row := quote(parent.label) + "::" + r.from.sql()
		n.from = r.function.sql() + "(" + row + ") AS " + n.ref
		n.parentKey = []string{row}
	case r.junction != nil:
		table := r.junction.table.sql()
		n.label, n.ref = r.to.name, r.to.sql()
		n.from = r.to.sql() + ", " + table
		for _, pair := range r.junction.targetCols {
			n.joins = append(n.joins, join{n.ref + "." + quote(pair.from.name), table + "." + quote(pair.to.name)})
		}
		joinParent(table, r.junction.sourceCols)
	default:
		joinParent(n.ref, r.columns)
	}
}

// findRelationship finds the only relationship from parent that the name and hint of an embed match.
func (p *planner) findRelationship(parent, e *node) (*relationship, error) {
	var exposed, matching []*relationship
	for _, r := range p.schemas.relationships[qualified{p.schema, parent.originName()}] {
		if r.function != nil && r.function.schema != p.schema || r.function == nil && r.to.schema != p.schema {
			continue
		}
		exposed = append(exposed, r)
		if r.matches(e.name, e.hint) {
			matching = append(matching, r)
		}
	}
	switch len(matching) {
	case 0:
		return nil, p.relationshipNotFound(parent.originName(), e, exposed)
	case 1:
		return matching[0], nil
	}
	return nil, ambiguousRelationship(parent.originName(), e.name, matching)
}

// originName returns the name by which the schema has the relationships of a node.
func (n *node) originName() string {
	if n.relation != nil {
		return n.relation.name
	}
	return n.label
}

// matches reports whether a request names a relationship by its target and a hint.
func (r *relationship) matches(target, hint string) bool {
	if r.function != nil {
		return target == r.function.name
	}
	var from, to string // the only column of each side
	if r.junction == nil && len(r.columns) == 1 {
		from, to = r.columns[0].from.name, r.columns[0].to.name
	}
	isTarget := target == r.to.name
	switch {
	case r.self() && hint == "":
		return isTarget && r.cardinality == oneToMany || r.cardinality == manyToOne && from != "" && target == from
	case r.self():
		return isTarget && r.cardinality == oneToMany && hint == to
	case hint == "":
		return isTarget || !r.to.view && target != "" && (target == r.constraint || target == from)
	}
	return isTarget && (hint == r.constraint || hint == from || hint == to ||
		r.junction != nil && hint == r.junction.table.name)
}

func (p *planner) relationshipNotFound(origin string, e *node, exposed []*relationship) error {
	hint := ""
	if e.hint != "" {
		hint = " using the hint '" + e.hint + "'"
	}
	err := badRequest("PGRST200",
		"Could not find a relationship between '"+origin+"' and '"+e.name+"' in the schema cache").
		detailed("Searched for a foreign key relationship between '" + origin + "' and '" + e.name + "'" + hint +
			" in the schema '" + p.schema + "', but no matches were found.")
	unknown, candidates := e.name, []string{}
	if _, ok := p.schemas.relationships[qualified{p.schema, origin}]; ok {
		for _, r := range exposed {
			candidates = append(candidates, r.to.name)
		}
	} else {
		unknown, candidates = origin, namesIn(p.schemas.relationships, p.schema)
	}
	near := problem.Similar(unknown, candidates, similar)
	if near == "" || unknown == e.name && strings.EqualFold(near, unknown) {
		return err
	}
	return err.hinted("Perhaps you meant '" + near + "' instead of '" + unknown + "'.")
}

// A candidate is one of several matching relationships, as the response lists it.
type candidate struct {
	Cardinality  string `json:"cardinality"`
	Embedding    string `json:"embedding"`
	Relationship string `json:"relationship"`
}

func ambiguousRelationship(origin, target string, matching []*relationship) error {
	var list []candidate
	var hints []string
	for _, r := range matching {
		list = append(list, candidate{cardinalities[r.cardinality], r.from.name + " with " + r.to.name, r.describe()})
		hint := r.constraint
		if r.junction != nil {
			hint = r.junction.table.name
		}
		hints = append(hints, "'"+r.to.name+"!"+hint+"'")
	}
	e := refuse(http.StatusMultipleChoices, "PGRST201",
		"Could not embed because more than one relationship was found for '"+origin+"' and '"+target+"'")
	e.details = list
	return e.hinted("Try changing '" + target + "' to one of the following: " + strings.Join(hints, ", ") +
		". Find the desired relationship in the 'details' key.")
}

// describe returns constraint using a(col) and b(col), or junction using constraint(col) and constraint(col).
func (r *relationship) describe() string {
	list := func(pairs []columnPair) (from, to string) {
		var fromNames, toNames []string
		for _, pair := range pairs {
			fromNames, toNames = append(fromNames, pair.from.name), append(toNames, pair.to.name)
		}
		return "(" + strings.Join(fromNames, ", ") + ")", "(" + strings.Join(toNames, ", ") + ")"
	}
	if j := r.junction; j != nil {
		_, source := list(j.sourceCols)
		_, target := list(j.targetCols)
		return j.table.name + " using " + j.source + source + " and " + j.target + target
	}
	from, to := list(r.columns)
	return r.constraint + " using " + r.from.name + from + " and " + r.to.name + to
}

// checkAggregates refuses aggregates that are disabled or not possible.
func (p *planner) checkAggregates(n *node) error {
	if !p.cfg.Aggregates && (n.aggregates() || n.spreadsMany()) {
		return badRequest("PGRST123", "Use of aggregate functions is not allowed")
	}
	if n.spreadsMany() && (n.aggregates() || slices.ContainsFunc(n.embeds, (*node).hoistsAggregates)) {
		return badRequest("PGRST127", "Feature not implemented").
			detailed("Aggregates are not implemented for one-to-many or many-to-many spreads.")
	}
	for _, e := range n.embeds {
		if err := p.checkAggregates(e); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) aggregates() bool {
	return slices.ContainsFunc(n.columns, func(c selectColumn) bool { return c.aggregate != "" })
}

// hoistsAggregates reports whether a node leaves aggregates to its parent.
func (n *node) hoistsAggregates() bool {
	return n.spreadsOne() && (n.aggregates() || slices.ContainsFunc(n.embeds, (*node).hoistsAggregates))
}

// planOrder finds the embeds by which the rows of a node and of its embeds are sorted.
func (n *node) planOrder() error {
	for i := range n.order {
		name := n.order[i].relation
		if name == "" {
			continue
		}
		e := n.findEmbed(name)
		if e == nil {
			return notEmbedded(name)
		}
		if !e.relationship.toOne() {
			return badRequest("PGRST118", "A related order on '"+name+"' is not possible").
				detailed("'" + n.originName() + "' and '" + name +
					"' do not form a many-to-one or one-to-one relationship")
		}
		n.order[i].embed = e
	}
	for _, e := range n.embeds {
		if err := e.planOrder(); err != nil {
			return err
		}
	}
	return nil
}
